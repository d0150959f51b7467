//! Tokens to a tree.
//!
//! The grammar is brush-parser's. Most texts are plain commands: words, joined by `&&`, `||`, `|`, `;`, `&` and
//! line breaks. They become the same tree here, for a fraction of its work. What has anything else in it (a
//! redirection, a parenthesis, an assignment, a reserved word in front of a command) or is not well-formed is left
//! to the grammar.

use brush_parser::{ParserOptions, Token, ast, parse_tokens};

use crate::lexer::Stop;

/// Words that the grammar takes for something else than a program where a command begins.
const RESERVED: [&str; 22] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while", "{", "}",
];

/// The program that these tokens are.
pub(crate) fn parse(tokens: Vec<Token>) -> Result<ast::Program, Stop> {
    plain(tokens).or_else(|tokens| by_grammar(&tokens))
}

fn by_grammar(tokens: &[Token]) -> Result<ast::Program, Stop> {
    let options = ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() };
    parse_tokens(tokens, &options).map_err(|_| "the grammar does not accept the text")
}

/// The program that these tokens are, if they are plain commands; else the tokens.
fn plain(tokens: Vec<Token>) -> Result<ast::Program, Vec<Token>> {
    if !is_plain(&tokens) {
        return Err(tokens);
    }
    let mut program = ast::Program { complete_commands: Vec::new() };
    let mut items = Vec::new();
    let mut list = OpenList::default();
    for token in tokens {
        let operator = match token {
            Token::Word(value, span) => {
                list.words.push(ast::Word { value, loc: Some(span) });
                continue;
            }
            Token::Operator(operator, _) => operator,
        };
        match operator.as_str() {
            "|" => list.end_command(),
            "&&" => list.end_pipeline(ast::AndOr::And),
            "||" => list.end_pipeline(ast::AndOr::Or),
            ";" => list.end(ast::SeparatorOperator::Sequence, &mut items),
            "&" => list.end(ast::SeparatorOperator::Async, &mut items),
            // The list goes on after a line break that comes in the middle of it.
            _ if list.words.is_empty() && list.has_begun() => {}
            _ => {
                list.end(ast::SeparatorOperator::Sequence, &mut items);
                if !items.is_empty() {
                    program.complete_commands.push(ast::CompoundList(std::mem::take(&mut items)));
                }
            }
        }
    }
    list.end(ast::SeparatorOperator::Sequence, &mut items);
    if !items.is_empty() {
        program.complete_commands.push(ast::CompoundList(items));
    }
    Ok(program)
}

/// A list of pipelines that is being read.
#[derive(Default)]
struct OpenList {
    first: Option<ast::Pipeline>,
    additional: Vec<ast::AndOr>,
    /// How the pipeline that is being read follows those before it.
    joint: Option<fn(ast::Pipeline) -> ast::AndOr>,
    pipeline: Vec<ast::Command>,
    /// The words of the command that is being read.
    words: Vec<ast::Word>,
}

impl OpenList {
    fn has_begun(&self) -> bool {
        self.first.is_some() || !self.pipeline.is_empty()
    }

    fn end_command(&mut self) {
        let mut words = std::mem::take(&mut self.words).into_iter();
        let word_or_name = words.next();
        let suffix: Vec<_> = words.map(ast::CommandPrefixOrSuffixItem::Word).collect();
        let suffix = (!suffix.is_empty()).then_some(ast::CommandSuffix(suffix));
        let command = ast::SimpleCommand { prefix: None, word_or_name, suffix };
        self.pipeline.push(ast::Command::Simple(command));
    }

    fn end_pipeline(&mut self, next: fn(ast::Pipeline) -> ast::AndOr) {
        self.end_command();
        let seq = std::mem::take(&mut self.pipeline);
        let pipeline = ast::Pipeline { timed: None, bang: false, seq };
        match self.joint.replace(next) {
            Some(joint) => self.additional.push(joint(pipeline)),
            None => self.first = Some(pipeline),
        }
    }

    fn end(&mut self, separator: ast::SeparatorOperator, items: &mut Vec<ast::CompoundListItem>) {
        if self.words.is_empty() {
            return;
        }
        self.end_pipeline(ast::AndOr::And);
        self.joint = None;
        if let Some(first) = self.first.take() {
            let additional = std::mem::take(&mut self.additional);
            items.push(ast::CompoundListItem(ast::AndOrList { first, additional }, separator));
        }
    }
}

/// What a token may be followed by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing, or a line break after a list: a command or another line break, or the end.
    Line,
    /// `;` or `&`: the same.
    Separator,
    /// `&&`, `||` or `|`: a command or a line break.
    Joint,
    /// A word: anything.
    Word,
}

/// Whether the tokens are well-formed plain commands, at least one.
fn is_plain(tokens: &[Token]) -> bool {
    let mut before = Before::Line;
    let mut commands = 0;
    for token in tokens {
        before = match token {
            Token::Word(word, _) => {
                if before != Before::Word {
                    commands += 1;
                    if RESERVED.contains(&word.as_str()) {
                        return false;
                    }
                }
                if may_assign(word) {
                    return false;
                }
                Before::Word
            }
            Token::Operator(operator, _) => match (operator.as_str(), before) {
                ("&&" | "||" | "|", Before::Word) | ("\n", Before::Joint) => Before::Joint,
                (";" | "&", Before::Word) => Before::Separator,
                ("\n", _) => Before::Line,
                _ => return false,
            },
        };
    }
    commands > 0 && before != Before::Joint
}

/// Whether a word might be an assignment: to a name, or to an element of an array.
fn may_assign(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_') && word.contains('=')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::corpus::SETS;
    use crate::lexer;
    use crate::shell::Shell;

    /// Whether a text is plain; the grammar must make the same of it.
    fn agrees(text: &str) -> bool {
        let Ok(read) = lexer::tokens(text, Shell::Bash, 0) else { return false };
        let parsed = by_grammar(&read.tokens);
        let Ok(program) = plain(read.tokens) else { return false };
        let parsed = parsed.map_err(|error| format!("{text:?}: {error}")).unwrap();
        assert_eq!(format!("{program:?}"), format!("{parsed:?}"), "{text:?}");
        true
    }

    #[test]
    fn the_grammar_reads_every_plain_command_of_the_corpus_in_the_same_way() {
        let (mut all, mut plain) = (0, 0);
        for command in SETS.iter().flat_map(|set| set.commands().collect::<Vec<_>>()) {
            all += 1;
            plain += usize::from(agrees(&command));
        }
        assert!(plain * 2 > all, "{plain} of {all} are plain");
    }

    #[test]
    fn what_needs_the_grammar_is_left_to_it() {
        for text in [
            "echo hi",
            "a\n",
            "\n\na\n\nb\n",
            "a && b || c | d; e & f",
            "a;\nb &\nc",
            "a |\n\nb",
            "echo do done if = x{ time",
            "a --b=c -d=e /f=g =h",
        ] {
            assert!(agrees(text), "{text:?}");
        }
        for text in [
            "",
            "\n",
            ";",
            "a && ",
            "&& a",
            "a ;; b",
            "a; ; b",
            "a\n; b",
            "a & ; b",
            "a | ; b",
            "a=b c",
            "c a=b",
            "a[1]=b",
            "a+=b",
            "! a",
            "time a",
            "a | time b",
            "if a; then b; fi",
            "a > b",
            "a 2>&1",
            "(a)",
            "a() { b; }",
            "{ a; }",
            "[[ a ]]",
            "a |& b",
            "a &> b",
            "cat <<E\nx\nE",
            "function f",
            "coproc a",
        ] {
            assert!(!agrees(text), "{text:?}");
        }
    }

    const PIECES: [&str; 46] = [
        "a", "echo", "-x", "--y=z", "'q u'", "\"$v\"", "$(b c)", "`d`", "${e}", "*.f", "~", "/g",
        "1", "h=i", "j+=k", "l[m]=n", "_=o", "é=p", "=", "[", "]", "[[", "]]", "!", "{", "}", "if",
        "then", "fi", "do", "done", "for", "in", "case", "esac", "while", "function", "time",
        "select", "-p", "#r", "coproc", "\\s", "else", "elif", "until",
    ];
    const JOINTS: [&str; 22] = [
        " ", " ", " ", " ", " ", " ", " && ", " || ", " | ", "; ", " & ", "\n", "", "(", ")",
        " > ", " 2>", " < ", "|&", ";;", "()", " \\\n",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_grammar_reads_every_plain_text_in_the_same_way(
            parts in prop::collection::vec((0..PIECES.len(), 0..JOINTS.len()), 0..9),
        ) {
            let text: String =
                parts.iter().flat_map(|(piece, joint)| [PIECES[*piece], JOINTS[*joint]]).collect();
            agrees(&text);
        }

        #[test]
        fn plain_words_are_plain(
            parts in prop::collection::vec((0..13_usize, 0..12_usize), 0..9),
        ) {
            let text: String =
                parts.iter().flat_map(|(piece, joint)| [PIECES[*piece], JOINTS[*joint]]).collect();
            agrees(&text);
        }
    }
}
