//! Outputs of jobs as resources: listed, read, completed, told of.

use serde_json::{Value, json};

use super::{Client, newest};
use crate::harness::Umbo;

fn read(client: &mut Client, uri: &str) -> Value {
    client.request("resources/read", &json!({"uri": uri}))
}

#[test]
fn an_output_is_read_whole_and_in_ranges() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let line = "seq 1 30000; echo oops >&2";
    let job = client.call("exec", &json!({"command": line, "name": "long"}));
    let job = job["job"].as_str().unwrap();
    let whole = read(&mut client, &format!("umbo://jobs/{job}/output"));
    let contents = &whole["result"]["contents"][0];
    let about = &contents["_meta"]["umbo"];
    assert_eq!((&about["truncated"], &about["state"]), (&json!(true), &json!("exited")));
    assert!(contents["text"].as_str().unwrap().contains("bytes"), "the gap is told");
    // Ranges leave nothing out, and lead to one another.
    let mut uri = Some(format!("umbo://jobs/{job}/output?limit=50000&stream=stdout"));
    let mut text = String::new();
    let mut ranges = 0;
    while let Some(next) = uri.take() {
        let part = read(&mut client, &next);
        let contents = &part["result"]["contents"][0];
        assert!(contents["text"].as_str().unwrap().len() <= 50000);
        text.push_str(contents["text"].as_str().unwrap());
        uri = contents["_meta"]["umbo"]["next"].as_str().map(str::to_owned);
        ranges += 1;
    }
    assert!(text.lines().eq((1..=30000).map(|number| number.to_string())));
    assert_eq!(ranges, 4);
    for (query, text) in
        [("lines=3-4", "3\n4\n"), ("tail=1", "oops\n"), ("stream=stderr", "oops\n")]
    {
        let part = read(&mut client, &format!("umbo://jobs/long/output?{query}"));
        assert_eq!(part["result"]["contents"][0]["text"], text, "{query}");
    }
    client.close();
}

#[test]
fn a_cut_result_links_to_the_rest_for_clients_that_take_links_and_for_no_other() {
    let umbo = Umbo::new();
    for (name, revision, expected) in [
        ("mcp-inspector", "2025-06-18", 1),
        ("mcp-inspector", "2025-03-26", 0),
        ("langchain", "2025-11-25", 0),
    ] {
        let mut client = Client::of(&mut umbo.call(["mcp"]).into_command());
        client.initialize_as(name, revision, &json!({}));
        let result = client.tool("exec", &json!({"command": "seq 1 30000"}));
        let content = result["content"].as_array().unwrap();
        let links: Vec<_> = content.iter().filter(|part| part["type"] == "resource_link").collect();
        assert_eq!(links.len(), expected, "{name} {revision}");
        for link in links {
            let uri = link["uri"].as_str().unwrap();
            let whole = read(&mut client, uri);
            assert!(whole["result"]["contents"][0]["text"].is_string(), "{uri}: {whole}");
        }
        client.close();
    }
}

#[test]
fn a_secret_is_masked_in_a_resource_too() {
    let umbo = Umbo::new();
    let mut command = umbo.call(["mcp"]).env("API_TOKEN", "s3cr3t-v4lue-of-mine").into_command();
    let mut client = Client::of(&mut command);
    client.initialize("2025-11-25");
    let job = client.call("exec", &json!({"command": "env", "name": "leak"}));
    let uri = format!("umbo://jobs/{}/output?offset=0&limit=90000", job["job"].as_str().unwrap());
    let part = read(&mut client, &uri).to_string();
    assert!(part.contains("API_TOKEN=") && !part.contains("s3cr3t"), "{part}");
    client.close();
}

#[test]
fn an_address_that_leads_nowhere_says_so() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    client.call("exec", &json!({"command": "echo hi", "name": "hi"}));
    for uri in ["umbo://jobs/nothing/output", "file:///etc/passwd", "umbo://jobs/hi"] {
        let error = read(&mut client, uri)["error"].clone();
        assert_eq!(
            (&error["code"], &error["data"]["uri"]),
            (&json!(-32002), &json!(uri)),
            "{error}"
        );
        let error = client.request("resources/subscribe", &json!({"uri": uri}))["error"].clone();
        assert_eq!(error["code"], -32002, "{error}");
    }
    let error = read(&mut client, "umbo://jobs/hi/output?limit=2000000")["error"].clone();
    assert_eq!((&error["code"], &error["data"]["field"]), (&json!(-32602), &json!("limit")));
    let error = client.request("resources/list", &json!({"cursor": "x"}))["error"].clone();
    assert_eq!((&error["code"], &error["data"]["field"]), (&json!(-32602), &json!("cursor")));
    let prompts = client.request("prompts/list", &json!({}));
    assert_eq!(prompts["error"]["code"], -32601, "there are none, and none are declared");
    client.close();
}

#[test]
fn a_long_list_comes_in_pages() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let ids: Vec<u64> =
        (0..130).map(|_| client.ask_tool("exec", &json!({"argv": ["true"]}))).collect();
    for id in ids {
        client.answer(id);
    }
    let first = client.request("resources/list", &json!({}))["result"].clone();
    let cursor = &first["nextCursor"];
    let second = client.request("resources/list", &json!({"cursor": cursor}))["result"].clone();
    let uris = |page: &Value| -> Vec<String> {
        let page = page["resources"].as_array().unwrap().iter();
        page.map(|resource| resource["uri"].as_str().unwrap().to_owned()).collect()
    };
    let mut all = [uris(&first), uris(&second)].concat();
    assert_eq!((uris(&first).len(), all.len()), (100, 130));
    assert!(second.get("nextCursor").is_none());
    // The newest first, each once.
    assert!(all.is_sorted_by(|one, next| one > next));
    all.dedup();
    assert_eq!(all.len(), 130);
    client.close();
}

#[test]
fn a_template_is_filled_in() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let job = client.call("exec", &json!({"command": "true", "name": "build"}))["job"].clone();
    let mut complete = |name: &str, typed: &str| {
        let template = json!({"type": "ref/resource", "uri": "umbo://jobs/{job}/output{?stream}"});
        let argument = json!({"name": name, "value": typed});
        let params = json!({"ref": template, "argument": argument});
        client.request("completion/complete", &params)["result"]["completion"]["values"].clone()
    };
    assert_eq!(complete("job", "bu"), json!(["build"]));
    assert_eq!(complete("job", "0"), json!([job]));
    assert_eq!(complete("stream", "stde"), json!(["stderr"]));
    client.close();
}

#[test]
fn who_subscribed_is_told_of_growth_and_of_the_end() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let line = "read x; echo one; read x; echo two";
    let job = client.call("exec", &json!({"command": line, "background": true, "name": "talks"}));
    let uri = format!("umbo://jobs/{}/output?tail=1", job["job"].as_str().unwrap());
    client.request("resources/subscribe", &json!({"uri": uri}));
    for (input, text) in [("\n", "one\n"), ("\n", "two\n")] {
        client.call("input", &json!({"job": "talks", "text": input}));
        loop {
            let told = client.hear("notifications/resources/updated");
            assert_eq!(told["params"]["uri"], uri, "the address it gave");
            if read(&mut client, &uri)["result"]["contents"][0]["text"] == text {
                break;
            }
        }
    }
    umbo.outcome(&umbo.listed_by_name("talks"));
    client.request("resources/unsubscribe", &json!({"uri": uri}));
    client.close();
}

#[test]
fn who_asked_for_messages_is_told_each_end_once_and_results_tell_it_too() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    client.request("logging/setLevel", &json!({"level": "warning"}));
    for (name, code) in [("well", 0), ("badly", 3)] {
        let line = format!("read x; exit {code}");
        client.call("exec", &json!({"command": line, "background": true, "name": name}));
    }
    for name in ["well", "badly"] {
        let job = umbo.listed_by_name(name);
        umbo.call(["input", &job, "\n"]).run();
        umbo.outcome(&job);
    }
    // What ended well is beneath the level.
    let told = client.hear("notifications/message");
    assert_eq!(
        (&told["params"]["level"], &told["params"]["logger"]),
        (&json!("warning"), &json!("umbo.jobs"))
    );
    assert_eq!(told["params"]["data"]["completed"]["exit_code"], 3);
    let completed = client.call("jobs", &json!({}))["completed"].clone();
    assert_eq!(completed.as_array().unwrap().len(), 2, "{completed}");
    // An end that a result of its own told of is not announced.
    let line = "echo up; read x; exit 4";
    client.call("exec", &json!({"command": line, "background": true, "name": "waited"}));
    let waiting = client.ask(
        "tools/call",
        &json!({"name": "wait", "arguments": {"job": "waited"}, "_meta": {"progressToken": "t"}}),
    );
    // It waits.
    client.hear("notifications/progress");
    umbo.call(["input", &umbo.listed_by_name("waited"), "\n"]).run();
    client.answer(waiting);
    client.call("exec", &json!({"command": "read x; exit 5", "background": true, "name": "last"}));
    umbo.call(["input", &umbo.listed_by_name("last"), "\n"]).run();
    let told = client.hear("notifications/message");
    assert_eq!(told["params"]["data"]["completed"]["name"], "last", "{told}");
    client.close();
}

#[test]
fn a_list_that_somebody_read_is_told_to_have_changed_and_no_other() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    client.call("exec", &json!({"command": "echo before"}));
    client.request("resources/list", &json!({}));
    assert!(client.heard.is_empty(), "nobody asked: {:?}", client.heard);
    client.call("exec", &json!({"command": "echo after"}));
    client.hear("notifications/resources/list_changed");
    client.close();
}

#[test]
fn the_newest_revision_listens_on_a_stream() {
    let umbo = Umbo::new();
    let mut client = Client::start(&umbo, &[]);
    let meta = newest(&json!({}));
    let call =
        |tool: &str, arguments: Value| json!({"name": tool, "arguments": arguments, "_meta": meta});
    let arguments = json!({"command": "read x; echo $x", "background": true, "name": "talks"});
    let job = client.request("tools/call", &call("exec", arguments))["result"].clone();
    let uri = format!("umbo://jobs/{}/output", job["structuredContent"]["job"].as_str().unwrap());
    let notifications = json!({
        "resourceSubscriptions": [uri, "umbo://jobs/nothing/output"],
        "resourcesListChanged": true,
        "promptsListChanged": true,
    });
    let params = json!({"notifications": notifications, "_meta": meta});
    let listening = client.ask("subscriptions/listen", &params);
    let honored = client.hear("notifications/subscriptions/acknowledged");
    let expected = json!({"resourceSubscriptions": [uri], "resourcesListChanged": true});
    assert_eq!(honored["params"]["notifications"], expected);
    client.request("tools/call", &call("input", json!({"job": "talks", "text": "hi\n"})));
    let told = client.hear("notifications/resources/updated");
    assert_eq!(told["params"]["uri"], uri);
    let id = "io.modelcontextprotocol/subscriptionId";
    assert_eq!(told["params"]["_meta"][id], listening, "{told}");
    client.request("tools/call", &call("exec", json!({"command": "echo another"})));
    client.hear("notifications/resources/list_changed");
    // What older revisions have is not there.
    let old = client.request("resources/subscribe", &json!({"uri": uri, "_meta": meta}));
    assert_eq!(old["error"]["code"], -32601);
    client.close();
}
