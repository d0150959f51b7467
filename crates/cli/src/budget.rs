//! Budgets as people write them.

use umbo_view::Budget;

use crate::time::parse_bytes;

/// Reads `50k` (bytes), `2000l` (lines), `8000t` (tokens), several of them with commas between,
/// or `none`. What is not named keeps its default.
pub(crate) fn parse_budget(text: &str) -> Result<Budget, String> {
    if text == "none" {
        return Ok(Budget::UNLIMITED);
    }
    let wrong = || format!("{text:?} is no budget; write 50k, 2000l, 8000t, 50k,2000l or none");
    let mut budget = Budget::default();
    for part in text.split(',') {
        let part = part.trim();
        let number = |digits: &str| digits.parse::<u64>().map_err(|_| wrong());
        if let Some(lines) = part.strip_suffix("lines").or_else(|| part.strip_suffix('l')) {
            budget.lines = number(lines)?;
        } else if let Some(tokens) = part.strip_suffix("tokens").or_else(|| part.strip_suffix('t'))
        {
            budget.tokens = number(tokens)?;
        } else {
            budget.bytes = parse_bytes(part).map_err(|_| wrong())?;
        }
    }
    Ok(budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_names_what_it_limits() {
        let budget = parse_budget("64k,100l,500t").unwrap();
        assert_eq!((budget.bytes, budget.lines, budget.tokens), (65_536, 100, 500));
        assert_eq!(parse_budget("10l").unwrap().tokens, Budget::default().tokens);
        assert_eq!(parse_budget("none").unwrap(), Budget::UNLIMITED);
        for text in ["", "much", "1x", "5l,", "-3t"] {
            assert!(parse_budget(text).is_err(), "{text}");
        }
    }
}
