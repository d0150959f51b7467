//! The token estimate, held against three real vocabularies.

#![allow(clippy::unwrap_used, reason = "only functions marked as tests are known to be tests")]

use umbo_view::estimate_tokens;

fn real(text: &str) -> [(&'static str, u64); 3] {
    [
        ("cl100k", bpe_openai::cl100k_base().count(text) as u64),
        ("o200k", bpe_openai::o200k_base().count(text) as u64),
        ("voyage3", bpe_openai::voyage3_base().count(text) as u64),
    ]
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

/// Says by how much a vocabulary exceeds the estimate, if one does.
fn shortfall(name: &str, text: &str) -> Vec<String> {
    let estimate = estimate_tokens(text);
    real(text)
        .into_iter()
        .filter(|(_, count)| estimate < *count)
        .map(|(vocabulary, count)| format!("{name}: {vocabulary} {count}, estimate {estimate}"))
        .collect()
}

#[test]
fn real_output_of_tools_is_never_under_estimated() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let mut under = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        println!("{} {} {:?}", path.display(), estimate_tokens(&text), real(&text));
        under.extend(shortfall(&path.file_name().unwrap().to_string_lossy(), &text));
    }
    assert_eq!(under, Vec::<String>::new());
}

#[test]
fn source_code_is_never_under_estimated() {
    let mut under = Vec::new();
    for name in ["sanitize", "slab", "tokens", "part", "source"] {
        let path = format!("{}/src/{name}.rs", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        println!("{name} {} {:?}", estimate_tokens(&text), real(&text));
        under.extend(shortfall(name, &text));
    }
    assert_eq!(under, Vec::<String>::new());
}

#[test]
fn dense_random_text_is_never_under_estimated() {
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
    let mut under = Vec::new();
    let mut dice = Dice(7);
    for (name, alphabet) in alphabets {
        for length in [40, 400, 4_000] {
            let text = dice.text(&alphabet, length);
            under.extend(shortfall(name, &text));
        }
    }
    assert_eq!(under, Vec::<String>::new());
}

#[test]
fn long_runs_of_one_sign_are_never_under_estimated() {
    let mut under = Vec::new();
    for sign in "=-_*#~.+/\\|<>!?:;,`'\"@$%^&()[]{} \t\n─━█".chars() {
        for length in [1, 2, 3, 5, 8, 17, 64, 100, 1_000] {
            under.extend(shortfall(&format!("{sign:?}"), &sign.to_string().repeat(length)));
        }
    }
    assert_eq!(under, Vec::<String>::new());
}

#[test]
fn it_never_exceeds_the_number_of_bytes() {
    let mut dice = Dice(11);
    for length in 0..200 {
        let text = dice.text("aZ9 -é\n═", length);
        assert!(estimate_tokens(&text) <= text.len() as u64);
    }
}
