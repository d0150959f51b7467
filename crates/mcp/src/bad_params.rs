//! Requests whose parameters do not fit their method. The protocol's library takes them for methods
//! that nobody has; whoever sent one is told which field it is.

use rmcp::ErrorData;
use rmcp::model::{CustomRequest, ErrorCode};
use serde_json::{Value, json};

/// What a field holds.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Object,
    Level,
}

/// Whether a field may be left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
}

const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// Methods that revision 2026-07-28 does not have any more.
const FORMER: [&str; 4] =
    ["initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// What the server was asked and could not read, as an error. `is_former` is whether the client speaks
/// a revision before 2026-07-28.
pub(crate) fn refuse(request: &CustomRequest, is_former: bool) -> ErrorData {
    let method = &request.method;
    let is_known = is_former || !FORMER.contains(&method.as_str());
    let Some(fields) = fields(method).filter(|_| is_known) else {
        let method = umbo_tools::visible(method).into_owned();
        return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None);
    };
    let (field, given, kind) = match &request.params {
        Some(Value::Object(params)) => {
            let wrong = fields.iter().find_map(|&(name, kind, need)| match params.get(name) {
                None | Some(Value::Null) if need == Need::Optional => None,
                Some(value) if kind.fits(value) => None,
                value => Some((name, value, kind)),
            });
            wrong.unwrap_or(("params", request.params.as_ref(), Kind::Object))
        }
        params => ("params", params.as_ref(), Kind::Object),
    };
    let given = given.map_or("nothing".to_owned(), short);
    let message = format!("{method}: {field}: {given} was given; accepted: {}", kind.accepted());
    ErrorData::invalid_params(message, Some(json!({"field": field})))
}

/// The fields of a method that this server has.
fn fields(method: &str) -> Option<&'static [(&'static str, Kind, Need)]> {
    use Kind::{Level, Object, Text};
    use Need::{Optional, Required};
    Some(match method {
        "initialize" => &[
            ("protocolVersion", Text, Required),
            ("capabilities", Object, Required),
            ("clientInfo", Object, Required),
        ],
        "tools/call" => &[("name", Text, Required), ("arguments", Object, Optional)],
        "tools/list" | "resources/list" | "resources/templates/list" => {
            &[("cursor", Text, Optional)]
        }
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            &[("uri", Text, Required)]
        }
        "logging/setLevel" => &[("level", Level, Required)],
        "completion/complete" => &[("ref", Object, Required), ("argument", Object, Required)],
        "tasks/get" | "tasks/update" | "tasks/cancel" => &[("taskId", Text, Required)],
        _ => return None,
    })
}

impl Kind {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Object => value.is_object(),
            Self::Level => value.as_str().is_some_and(|level| LEVELS.contains(&level)),
        }
    }

    fn accepted(self) -> String {
        match self {
            Self::Text => "a string".to_owned(),
            Self::Object => "an object".to_owned(),
            Self::Level => LEVELS.join(" "),
        }
    }
}

/// A value, as much of it as a message has room for.
fn short(value: &Value) -> String {
    let text = umbo_tools::visible(&value.to_string()).into_owned();
    let cut = text.floor_char_boundary(100);
    if cut < text.len() { format!("{}…", &text[..cut]) } else { text }
}
