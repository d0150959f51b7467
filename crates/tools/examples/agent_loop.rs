//! An agent: a model that asks for tools, the tools of a dialect, and the loop between the two. The
//! model is a script, which reads what its tools answered; everything else is real.
#![expect(clippy::print_stdout, reason = "an example has something to show")]

use std::error::Error;

use serde_json::{Value, json};
use umbo_engine::Engine;
use umbo_tools::{Caller, Ticket, Tool, Toolset};

fn main() -> Result<(), Box<dyn Error>> {
    umbo_engine::init();
    let place = tempfile::tempdir()?;
    let engine = Engine::builder(place.path().join("state")).open()?;
    let caller = Caller::builder(engine).directory(place.path()).environment(std::env::vars_os());
    let tools = Toolset::builder(caller).dialect("claude-code").build()?;

    let mut told = vec![Message::Task("How many lines does numbers.txt have?".to_owned())];
    let answer = loop {
        match model(tools.tools(), &told)? {
            Turn::Answer(text) => break text,
            Turn::Call(name, arguments) => {
                println!("> {name} {arguments}");
                let result = tools.call(name, arguments, &Ticket::default());
                println!("{}", result.text.trim_end());
                told.push(Message::Result { text: result.text, is_error: result.is_error });
            }
        }
    };

    println!("{answer}");
    assert_eq!(answer, "numbers.txt has 3 lines");
    assert_eq!(told.len(), 5, "a task and four results");
    Ok(())
}

/// What a model has been told.
enum Message {
    Task(String),
    Result { text: String, is_error: bool },
}

/// What a model wants.
enum Turn {
    Call(&'static str, Value),
    Answer(String),
}

/// A model: what it wants next, after all that it was told.
fn model(tools: &[Tool], told: &[Message]) -> Result<Turn, String> {
    let bash = |command: &str| Turn::Call("Bash", json!({"command": command}));
    match told {
        [Message::Task(task)] if task.contains("numbers.txt") => {
            assert!(tools.iter().any(|tool| tool.name == "Bash"), "it knows what it may call");
            Ok(bash("cat numbers.txt"))
        }
        // It is not there, and the error says so: the model makes it.
        [_, Message::Result { text, is_error: true }] if text.contains("No such file") => {
            Ok(bash("printf '%s\\n' one two three > numbers.txt"))
        }
        // A wrong argument is an answer like any other: it names the field and the way out.
        [_, _, Message::Result { is_error: false, .. }] => {
            Ok(Turn::Call("Bash", json!({"comand": "wc -l < numbers.txt"})))
        }
        [.., Message::Result { text, is_error: true }] if text.starts_with("command: ") => {
            Ok(bash("wc -l < numbers.txt"))
        }
        [.., Message::Result { text, is_error: false }] => {
            Ok(Turn::Answer(format!("numbers.txt has {} lines", text.trim())))
        }
        [.., Message::Result { text, .. } | Message::Task(text)] => {
            Err(format!("the script does not know what to make of {text:?}"))
        }
        [] => Err("nobody asked for anything".to_owned()),
    }
}
