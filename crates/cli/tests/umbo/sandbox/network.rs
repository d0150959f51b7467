//! The network of a sandboxed command: none, or hosts that are listed, through the proxy.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use super::{Machine, Who, Yard, denied};

/// A server on the machine that answers every request with `hello` and what it was asked for.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let mut request = [0; 2048];
            let count = client.read(&mut request).unwrap_or(0);
            let first = String::from_utf8_lossy(&request[..count]);
            let line = first.lines().next().unwrap_or_default().to_owned();
            let _ = write!(client, "HTTP/1.0 200 OK\r\n\r\nhello {line}\n");
        }
    });
    port
}

/// Says something to the proxy with nothing but bash, and prints what it answers.
fn say(bytes: &str) -> String {
    format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; printf \"{bytes}\" >&3; cat <&3'")
}

#[test]
fn there_is_no_network_but_the_jobs_own() {
    for machine in [Machine::Usual, Machine::WithoutNamespaces] {
        let yard = Yard::new(Who::Ordinary, machine);
        let port = server();
        let line = format!(
            "bash -c 'echo > /dev/tcp/127.0.0.1/{port} && echo reached'; \
             bash -c 'echo > /dev/tcp/192.0.2.1/80 && echo reached'; \
             bash -c 'echo > /dev/udp/192.0.2.1/53 && echo reached'; true"
        );
        let answer = yard.exec("workspace", &[], &line);
        assert_eq!(answer["stdout"], "", "{answer}");
        assert!(denied(&answer).contains(&"connect 192.0.2.1:80".to_owned()), "{answer}");
    }
}

#[test]
fn a_server_inside_is_reached_inside() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let line = "perl -MIO::Socket::INET -e '\
        $s = IO::Socket::INET->new(LocalAddr => \"127.0.0.1\", LocalPort => 8000, Listen => 5) or die $!; \
        if (fork) { $c = $s->accept; print {$c} \"inside\\n\"; close $c; wait } \
        else { $c = IO::Socket::INET->new(\"127.0.0.1:8000\") or die $!; print <$c> }'";
    let answer = yard.exec("workspace", &[], line);
    assert_eq!(answer["stdout"], "inside\n", "{answer}");
    assert_eq!(denied(&answer), [""; 0]);
}

#[test]
fn a_listed_host_is_reached_through_the_proxy_in_all_three_ways() {
    for machine in [Machine::Usual, Machine::WithoutNamespaces] {
        let yard = Yard::new(Who::Ordinary, machine);
        let port = server();
        let host = format!("127.0.0.1:{port}");
        let forward = say(&format!(
            "GET http://{host}/a?b HTTP/1.1\\r\\nHost: other\\r\\nProxy-Authorization: x\\r\\n\\r\\n"
        ));
        let connect =
            say(&format!("CONNECT {host} HTTP/1.1\\r\\n\\r\\nGET /tunnel HTTP/1.0\\r\\n\\r\\n"));
        let [high, low] = port.to_be_bytes();
        let socks = say(&format!(
            "\\x05\\x01\\x00\\x05\\x01\\x00\\x01\\x7f\\x00\\x00\\x01\\x{high:02x}\\x{low:02x}GET /socks HTTP/1.0\\r\\n\\r\\n"
        ));
        let line = format!("{forward}; {connect}; {socks} | tr -d '\\000\\005\\001'");
        let answer = yard.exec("workspace", &["--allow-host", &host], &line);
        let output = answer["stdout"].as_str().unwrap();
        for wanted in ["hello GET /a?b", "hello GET /tunnel", "hello GET /socks"] {
            assert!(output.contains(wanted), "no {wanted:?} in {output} {answer}");
        }
        let request = &answer["sandbox"]["requests"][0];
        assert_eq!((&request["allowed"], &request["count"]), (&true.into(), &3.into()), "{answer}");
        assert_eq!(denied(&answer), [""; 0]);
    }
}

#[test]
fn a_host_that_is_not_listed_is_refused_and_told() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let port = server();
    let line = say(&format!("CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n"));
    let answer = yard.exec("workspace", &["--allow-host", "example.com"], &line);
    let output = answer["stdout"].as_str().unwrap();
    assert!(output.contains("403") && output.contains("not on the list"), "{output}");
    assert_eq!(denied(&answer), [format!("connect 127.0.0.1:{port}")]);
    assert!(answer["denied"][0]["program"].as_str().unwrap().contains("cat"), "{answer}");
    assert_eq!(answer["sandbox"]["requests"][0]["allowed"], false);
}

#[test]
fn private_addresses_are_refused_where_all_public_hosts_are_allowed() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let port = server();
    for host in [
        "127.0.0.1",
        "localhost",
        "[::ffff:127.0.0.1]",
        "10.1.2.3",
        "169.254.169.254",
        "0x7f.1",
        "2130706433",
    ] {
        let line = say(&format!("CONNECT {host}:{port} HTTP/1.1\\r\\n\\r\\n"));
        let answer = yard.exec("workspace+net", &[], &line);
        let output = answer["stdout"].as_str().unwrap();
        assert!(output.contains("403") || output.contains("502"), "{host}: {output}");
        assert!(!output.contains("200"), "{host}: {output}");
    }
}

#[test]
fn nonsense_is_answered_and_does_no_harm() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let host = format!("127.0.0.1:{}", server());
    let lines = [
        "GARBAGE\\r\\n\\r\\n",
        "GET / HTTP/1.1\\r\\n\\r\\n",
        "CONNECT :x HTTP/1.1\\r\\n\\r\\n",
        "\\x05\\x01\\x02",
        "\\x04\\x01",
    ];
    let line: Vec<String> = lines.iter().map(|text| format!("timeout 5 {}", say(text))).collect();
    let after = say(&format!("CONNECT {host} HTTP/1.1\\r\\n\\r\\nGET /after HTTP/1.0\\r\\n\\r\\n"));
    let answer =
        yard.exec("workspace", &["--allow-host", &host], &format!("{}; {after}", line.join("; ")));
    let output = answer["stdout"].as_str().unwrap();
    assert!(
        output.matches("400 Bad Request").count() >= 3 && output.contains("hello GET /after"),
        "{output}"
    );
}

#[test]
fn a_host_that_is_none_is_an_error_that_says_how_to_write_one() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    for host in ["", "a b", "1.2.3", "10.0.0.0/99", "example.com:99999", "*"] {
        let words = ["exec", "--sandbox", "workspace", "--allow-host", host, "true"];
        let said = yard.umbo.call(words).current_dir(&yard.project()).refused();
        assert!(said.contains("allow-host") && said.contains("*.example.com"), "{host}: {said}");
    }
}

#[test]
fn a_port_that_a_job_opens_inside_is_waited_for() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    // The same port of the machine is somebody else's, and says nothing about the job's.
    let machine = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = machine.local_addr().unwrap().port().to_string();
    let gate = yard.umbo.fifo("project/gate");
    yard.give(&yard.project());
    let line = format!("read -r line < gate; exec python3 -m http.server --bind 127.0.0.1 {port}");
    let words = ["start", "--sandbox", "workspace", &line];
    let job = yard.umbo.call(words).current_dir(&yard.project()).answer().text().trim().to_owned();
    let early =
        yard.umbo.call(["wait", &job, "--json", "--port", &port, "--timeout", "0.5"]).answer();
    let early: serde_json::Value = serde_json::from_slice(&early.stdout).unwrap();
    assert_eq!(early["reason"], "timeout", "{early}");
    std::fs::write(gate, "go\n").unwrap();
    let met = yard.umbo.wait(&job, &["--port", &port]);
    assert_eq!(met["reason"], "port", "{met}");
    yard.umbo.stop(&job, &["--kill"]);
}

#[test]
fn a_port_that_a_job_opens_inside_is_reached_by_a_person_who_asks() {
    for who in [Who::Ordinary, Who::Tester] {
        let yard = Yard::new(who, Machine::Usual);
        std::fs::write(yard.project().join("page"), "from inside\n").unwrap();
        yard.give(&yard.project());
        let line = "exec python3 -m http.server --bind 127.0.0.1 8000";
        let words = ["start", "--sandbox", "workspace", line];
        let call = yard.umbo.call(words).current_dir(&yard.project());
        let job = call.answer().text().trim().to_owned();
        yard.umbo.wait(&job, &["--port", "8000"]);
        let words = ["sandbox", "port", &job, "8000", "--at", "0"];
        let mut command = yard.umbo.call(words).into_command();
        let mut reached = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        let stdout = reached.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut address).unwrap();
        for _ in 0..2 {
            let mut stream = std::net::TcpStream::connect(address.trim()).unwrap();
            stream.write_all(b"GET /page HTTP/1.0\r\n\r\n").unwrap();
            let mut page = String::new();
            stream.read_to_string(&mut page).unwrap();
            assert!(page.ends_with("from inside\n"), "{page}");
        }
        yard.umbo.stop(&job, &["--kill"]);
        assert!(reached.wait().unwrap().success(), "it ends with the job");
    }
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let job = yard.umbo.call(["start", "sleep 600"]).answer().text().trim().to_owned();
    let said = yard.umbo.call(["sandbox", "port", &job, "8000", "--at", "0"]).refused();
    assert!(said.contains("none of its own"), "{said}");
}

/// Files over HTTP at an address of this machine that no tool thinks of as its own; the address.
fn serve_files(directory: &std::path::Path) -> (Killed, String) {
    let probe = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    probe.connect("192.0.2.1:9").unwrap();
    let address = probe.local_addr().unwrap().ip();
    let port = {
        let free = std::net::TcpListener::bind((address, 0)).unwrap();
        free.local_addr().unwrap().port()
    };
    let mut server = std::process::Command::new("python3");
    server.args(["-m", "http.server", "--bind", &address.to_string(), &port.to_string()]);
    server
        .current_dir(directory)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let server = Killed(server.spawn().unwrap());
    let deadline = std::time::Instant::now() + crate::harness::TIMEOUT;
    while std::net::TcpStream::connect((address, port)).is_err() {
        assert!(std::time::Instant::now() < deadline, "the server does not listen");
    }
    (server, format!("{address}:{port}"))
}

/// A process that ends with its test.
struct Killed(std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn tools_use_the_proxy_without_being_told() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let files = yard.path("outside");
    let run = |line: &str| {
        let status =
            std::process::Command::new("sh").args(["-ec", line]).current_dir(&files).status();
        assert!(status.unwrap().success(), "{line}");
    };
    run("echo hello > hello; git init -q work; cd work; echo x > x; git add x; \
         git -c user.name=a -c user.email=a@example.com commit -qm x; cd ..; \
         git clone -q --bare work r.git; git -C r.git update-server-info");
    run("mkdir -p go/example.com/m/@v m/example.com/m@v1.0.0; cd m; \
         printf 'module example.com/m\\n' > example.com/m@v1.0.0/go.mod; \
         printf 'package m\\n\\nfunc Seven() int { return 7 }\\n' > example.com/m@v1.0.0/m.go; \
         python3 -c \"import zipfile as z; f = z.ZipFile('../go/example.com/m/@v/v1.0.0.zip', 'w'); [f.write('example.com/m@v1.0.0/' + n) for n in ('go.mod', 'm.go')]\"; \
         cp example.com/m@v1.0.0/go.mod ../go/example.com/m/@v/v1.0.0.mod; \
         echo '{\"Version\":\"v1.0.0\"}' > ../go/example.com/m/@v/v1.0.0.info; echo v1.0.0 > ../go/example.com/m/@v/list");
    let (_server, host) = serve_files(&files);
    let go = "rm -f go.mod go.sum; go clean -modcache; go mod init w >/dev/null 2>&1; printf 'package main\\n\\nimport \"example.com/m\"\\n\\n\
              func main() { println(m.Seven()) }\\n' > w.go; GOFLAGS=-mod=mod GONOSUMDB=* GOSUMDB=off \
              GOPROXY=http://HOST/go go get example.com/m@v1.0.0 >/dev/null 2>&1; \
              GOFLAGS=-mod=mod GOSUMDB=off GOPROXY=off go run . 2>&1";
    let cases = [
        ("curl", "curl -s http://HOST/hello", "hello"),
        (
            "python3",
            "python3 -c \"import urllib.request as u; print(u.urlopen('http://HOST/hello').read().decode().strip())\"",
            "hello",
        ),
        ("git", "rm -rf c && git clone -q http://HOST/r.git c && cat c/x", "x"),
        ("go", go, "7"),
    ];
    for (tool, line, last) in cases {
        let line = line.replace("HOST", &host);
        let answer = yard.exec("workspace", &["--allow-host", &host], &line);
        let said = answer["stdout"].as_str().unwrap().lines().last().map(str::to_owned);
        assert_eq!(said.as_deref(), Some(last), "{tool}: {answer}");
        let request = &answer["sandbox"]["requests"][0];
        assert_eq!(
            format!("{}:{}", request["host"].as_str().unwrap(), request["port"]),
            host,
            "{tool}"
        );
        assert!(
            request["count"].as_u64().unwrap() > 0 && request["allowed"] == true,
            "{tool}: {answer}"
        );
        // It gets nothing where the host is not listed, though its address is one of this machine.
        let refused = yard.exec("workspace", &["--allow-host", "a.example"], &line);
        assert_ne!(
            refused["stdout"].as_str().unwrap().lines().last(),
            Some(last),
            "{tool}: {refused}"
        );
        assert!(!denied(&refused).is_empty(), "{tool}: {refused}");
        let is_private =
            |address: &str| address.parse().is_ok_and(|ip: std::net::Ipv4Addr| ip.is_private());
        if !host.split(':').next().is_some_and(is_private) {
            continue;
        }
        let public = yard.exec("workspace+net", &[], &line);
        assert!(
            denied(&public).iter().any(|one| one.contains(&host)),
            "a private address: {public}"
        );
    }
}
