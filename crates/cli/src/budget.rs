//! Budgets as people write them.

use umbo_view::Budget;

use crate::time::parse_bytes;

/// The room that somebody gave to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BudgetArg {
    /// As much as there is.
    Unlimited,
    /// At most this; what is not named is as usual.
    Limited { tokens: Option<u64>, bytes: Option<u64>, lines: Option<u64> },
}

impl BudgetArg {
    /// The budget: what was given, else the usual.
    pub(crate) fn or(given: Option<Self>, usual: Budget) -> Budget {
        match given {
            None => usual,
            Some(Self::Unlimited) => Budget::UNLIMITED,
            Some(Self::Limited { tokens, bytes, lines }) => Budget {
                tokens: tokens.unwrap_or(usual.tokens),
                bytes: bytes.unwrap_or(usual.bytes),
                lines: lines.unwrap_or(usual.lines),
                ..usual
            },
        }
    }
}

/// Reads `50k` (bytes), `2000l` (lines), `8000t` (tokens), several of them with commas between,
/// or `none`.
pub(crate) fn parse_budget(text: &str) -> Result<BudgetArg, String> {
    if text == "none" {
        return Ok(BudgetArg::Unlimited);
    }
    let wrong = || format!("{text:?} is no budget; write 50k, 2000l, 8000t, 50k,2000l or none");
    let (mut all_tokens, mut all_bytes, mut all_lines) = (None, None, None);
    for part in text.split(',') {
        let part = part.trim();
        let number = |digits: &str| digits.parse::<u64>().map_err(|_| wrong());
        if let Some(lines) = part.strip_suffix("lines").or_else(|| part.strip_suffix('l')) {
            all_lines = Some(number(lines)?);
        } else if let Some(tokens) = part.strip_suffix("tokens").or_else(|| part.strip_suffix('t'))
        {
            all_tokens = Some(number(tokens)?);
        } else {
            all_bytes = Some(parse_bytes(part).map_err(|_| wrong())?);
        }
    }
    Ok(BudgetArg::Limited { tokens: all_tokens, bytes: all_bytes, lines: all_lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_names_what_it_limits() {
        let usual = Budget { tokens: 7, ..Budget::default() };
        let budget = |text: &str| BudgetArg::or(Some(parse_budget(text).unwrap()), usual);
        let all = budget("64k,100l,500t");
        assert_eq!((all.bytes, all.lines, all.tokens), (65_536, 100, 500));
        assert_eq!((budget("10l").tokens, budget("10l").lines), (7, 10));
        assert_eq!(budget("none"), Budget::UNLIMITED);
        assert_eq!(BudgetArg::or(None, usual), usual);
        for text in ["", "much", "1x", "5l,", "-3t"] {
            assert!(parse_budget(text).is_err(), "{text}");
        }
    }
}
