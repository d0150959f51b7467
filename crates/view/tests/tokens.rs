//! The token estimate, held against the real encoder.

#![allow(clippy::unwrap_used, reason = "only functions marked as tests are known to be tests")]

use umbo_view::estimate_tokens;

fn real(text: &str) -> u64 {
    bpe_openai::o200k_base().count(text) as u64
}

/// The estimate in thousandths of the truth.
fn permille(text: &str) -> u64 {
    estimate_tokens(text) * 1_000 / real(text).max(1)
}

/// A small generator, so that the corpora are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn text(&mut self, alphabet: &str, length: usize) -> String {
        let characters: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| characters[self.roll(characters.len())]).collect()
    }
}

/// Those that are further from the truth than `low..=high`, in thousandths.
fn outside(
    texts: impl Iterator<Item = (String, String)>,
    allowed: std::ops::RangeInclusive<u64>,
) -> Vec<String> {
    texts
        .map(|(name, text)| (name, permille(&text), real(&text)))
        .filter(|(_, permille, tokens)| !allowed.contains(permille) && *tokens > 20)
        .map(|(name, permille, tokens)| format!("{name}: {permille} of 1000, {tokens} tokens"))
        .collect()
}

fn files(directory: &str) -> impl Iterator<Item = (String, String)> {
    let directory = format!("{}/{directory}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            (path.file_name().unwrap().to_string_lossy().into_owned(), text)
        })
}

#[test]
fn the_output_of_real_tools_is_estimated_within_a_tenth() {
    assert_eq!(outside(files("fixtures"), 900..=1_100), Vec::<String>::new());
}

#[test]
fn source_code_is_estimated_within_a_tenth() {
    let texts = files("src").chain(files("tests")).chain(files("src/mask"));
    assert_eq!(outside(texts, 900..=1_100), Vec::<String>::new());
}

#[test]
fn dense_random_text_is_hardly_under_estimated() {
    let lower = "abcdefghijklmnopqrstuvwxyz";
    let upper = lower.to_uppercase();
    let alphabets = [
        ("lower", lower.to_owned()),
        ("upper", upper.clone()),
        ("letters", format!("{lower}{upper}")),
        ("lower words", format!("{lower}     ")),
        ("lower lines", format!("{lower}  \n\n")),
        ("hex", "0123456789abcdef".to_owned()),
        ("HEX", "0123456789ABCDEF".to_owned()),
        ("hex dump", "0123456789abcdef    ".to_owned()),
        ("base64", format!("{lower}{upper}0123456789+/")),
        ("digits", "0123456789".to_owned()),
        ("numbers", "0123456789 .,:-".to_owned()),
        ("punctuation", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~".to_owned()),
        ("json", format!("{lower}{{}}[]\":,  0123456789")),
        ("paths", format!("{lower}//..__--")),
        ("consonants", "bcdfghjklmnpqrstvwxz ".to_owned()),
        ("rare", "qxzjkvw".to_owned()),
        ("blanks", "  \t\n".to_owned()),
        ("accents", "éèàùäöüßñç aeiou".to_owned()),
        ("cyrillic", "абвгдежзийклмнопрстуфхцчшщъыьэюя ".to_owned()),
        ("cjk", "的一是不了人我在有他这为之大来以个中上们龘靐齉".to_owned()),
        ("emoji", "😀🚀✅❌🔥👩‍💻⚠️".to_owned()),
        ("boxes", "─│┌┐└┘├┤━┃✓✕●".to_owned()),
        ("replacement", "\u{fffd}abc".to_owned()),
    ];
    let mut dice = Dice(7);
    let texts = alphabets.iter().flat_map(|(name, alphabet)| {
        [400, 4_000].map(|length| (format!("{name} {length}"), dice.text(alphabet, length)))
    });
    assert_eq!(outside(texts, 860..=1_100), Vec::<String>::new());
}

#[test]
fn long_runs_of_one_sign_are_estimated_within_a_third() {
    let signs = "=-_*#~.+/\\|<>!?:;,`'\"@$%^&()[]{} \t\n─━█";
    let texts = signs.chars().flat_map(|sign| {
        [64, 100, 1_000]
            .map(|length| (format!("{sign:?} {length}"), sign.to_string().repeat(length)))
    });
    assert_eq!(outside(texts, 660..=1_340), Vec::<String>::new());
}

#[test]
fn it_never_exceeds_the_number_of_bytes() {
    let mut dice = Dice(11);
    for length in 0..200 {
        let text = dice.text("aZ9 -é\n═", length);
        assert!(estimate_tokens(&text) <= text.len() as u64);
    }
}
