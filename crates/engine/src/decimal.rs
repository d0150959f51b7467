//! Numbers in decimal, as records have them. Whoever waits for a job waits for some of these to be written, and
//! the machinery of formatting is large.

/// Appends a number.
pub(crate) fn append(to: &mut Vec<u8>, number: u64) {
    // The longest has 20 digits.
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    let mut left = number;
    loop {
        first -= 1;
        digits[first] += u8::try_from(left % 10).unwrap_or(0);
        left /= 10;
        if left == 0 {
            break;
        }
    }
    to.extend_from_slice(&digits[first..]);
}

/// Appends a number that may be negative.
pub(crate) fn append_signed(to: &mut Vec<u8>, number: i32) {
    if number < 0 {
        to.push(b'-');
    }
    append(to, u64::from(number.unsigned_abs()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_what_formatting_makes_of_it() {
        for number in [0, 1, 9, 10, 99, 100, 1_234_567_890, u64::MAX - 1, u64::MAX] {
            let mut text = Vec::new();
            append(&mut text, number);
            assert_eq!(text, number.to_string().as_bytes());
        }
        for number in [0, 7, -1, -10, i32::MIN, i32::MAX] {
            let mut text = Vec::new();
            append_signed(&mut text, number);
            assert_eq!(text, number.to_string().as_bytes());
        }
    }
}
