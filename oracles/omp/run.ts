// The same calls by oh-my-pi's own bash tool and by umbo's dialect `omp`: where they differ, one of the
// two is wrong, the host took a step after its document, or the difference is declared in the contract.
// usage: bun run.ts UMBO
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AsyncJobManager } from "@oh-my-pi/pi-coding-agent/async/job-manager";
import { Settings } from "@oh-my-pi/pi-coding-agent/config/settings";
import { BashTool } from "@oh-my-pi/pi-coding-agent/tools/bash";

type Arguments = Record<string, unknown>;
/** A call; one that is cancelled when the file `ready` is there has a word by which its processes are known. */
type Case = { with: Arguments; cancelled?: string };
/** What came of a call, as far as it can be compared. */
type Came = {
	kind: "ended" | "timed out" | "cancelled" | "refused" | "started";
	code?: number;
	output?: string;
	timeout?: number;
	requested?: number;
};

const umbo = process.argv[2];
if (!umbo) throw new Error("usage: bun run.ts UMBO");
const home = realpathSync(mkdtempSync(join(tmpdir(), "umbo-oracle-omp-")));

function project(name: string): string {
	const root = join(home, name, "project");
	mkdirSync(join(root, "sub/deep"), { recursive: true });
	mkdirSync(join(root, ".git"));
	writeFileSync(join(root, "file"), "x");
	return root;
}

function cases(): Case[] {
	const lines = [
		"echo hi",
		"echo out; echo err >&2; exit 3",
		"printf 'no newline'",
		"true",
		"no-such-command-at-all",
		"cd sub && pwd",
		"cd sub; pwd",
		"cd nowhere && pwd",
		"pwd",
		"( exit 5 )",
		"echo 'a  b'",
		"echo ünïcödé 日本",
		"true | false",
		"set -o pipefail; false | true",
		"set -e; false; echo no",
		"yes | head -3",
		"seq 1 500",
		"seq 1 500 >&2",
		"ls /no/such/place",
		"trap 'echo bye' EXIT; echo hi",
		"test -t 0 && echo tty || echo none",
		"test -t 1 && echo tty || echo none",
		"cat; echo closed",
		"printf '\\033[31mred\\033[0m\\n'",
		"printf 'a\\ab\\n'",
		"printf 'tab\\tx\\n'",
		"printf '10%%\\r20%%\\rdone\\n'",
		"printf '\\377\\376abc\\n'",
		"printf 'a\\r\\nb\\r\\n'",
		"printf '\\n\\n  lead and trail  \\n\\n'",
		"echo a; sleep 0.2; echo b",
		"echo $A-$B",
		"for n in 1 2 3; do echo $n; done",
		"if [ -f file ]; then cat file; fi",
		"f() { echo in f $1; return 4; }; f x",
		"echo $((6 * 7)) ${HOME:+home} $(echo sub)",
		"cat <<EOF\nline one\nline two\nEOF",
		"a=(1 2 3); echo ${a[1]} ${#a[@]}",
		"[[ abc == a* ]] && echo match",
		"echo one >out.txt; cat out.txt; rm out.txt",
		"sh -c 'exit 9'",
		"sh -c 'kill -TERM $$'",
		"sh -c 'kill -KILL $$'",
		"python3 -c 'import sys; sys.exit(11)'",
		"(sleep 9 >/dev/null 2>&1 &) ; echo started",
		"head -c 40000 /dev/zero | tr '\\0' x",
		"echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT",
		"seq 1 9000",
		"seq 1 20000",
		"echo 'unclosed",
		"",
		" ",
	];
	const all: Case[] = [0, 1, 2, 7, 126, 127, 255].map(code => ({ with: { command: `exit ${code}` } }));
	for (const command of [...lines, ...generated(60)]) all.push({ with: { command } });
	for (const cwd of ["sub", "sub/deep", ".", "..", "/", "nowhere", "file", "~", "sub/../sub"])
		all.push({ with: { command: "pwd", cwd } });
	for (const env of [{ A: "1", B: "x y" }, { "1A": "x" }, { "A-B": "x" }, { A: "" }, {}])
		all.push({ with: { command: "echo $A-$B", env } });
	for (const timeout of [1, 1.5, 30, 3600, 7200, -5, 0.1])
		all.push({ with: { command: "echo a", timeout } });
	for (const command of ["echo a; sleep 30", "echo e >&2; sleep 30", "sh -c 'trap \"\" TERM; echo a; sleep 30'"])
		all.push({ with: { command, timeout: 1 } });
	all.push({ with: { command: "sleep 30", timeout: 0.5 } });
	all.push({ with: { command: "test -t 1 && echo tty || echo none", pty: true } });
	for (const command of ["echo a; exit 2", "sleep 0.3; echo b"]) all.push({ with: { command, async: true } });
	all.push({ with: { command: "touch ready; sleep 31.1" }, cancelled: "31.1" });
	all.push({ with: { command: "touch ready; sh -c 'trap \"\" TERM INT; sleep 31.2'" }, cancelled: "31.2" });
	return all;
}

/** Lines made of pieces, the same ones each time. */
function generated(count: number): string[] {
	let seed = 20260101;
	const below = (most: number): number => {
		seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
		return Math.floor((seed / 2 ** 32) * most);
	};
	const pieces = [
		() => `echo out${below(100)}`,
		() => `echo err${below(100)} >&2`,
		() => `printf 'part${below(100)}'`,
		() => `seq ${below(5)} ${below(40)}`,
		() => `printf 'x\\ty\\n\\n'`,
		() => `(echo sub; exit ${below(4)})`,
		() => `sh -c 'echo child; exit ${below(200)}'`,
		() => `cat file | tr x ${"abc"[below(3)]}; echo`,
		() => `false || echo otherwise`,
		() => `true && echo and`,
		() => `for i in $(seq ${below(4)}); do echo loop $i; done`,
		() => `x=${below(9)}; echo $((x * 3)) \${x}`,
		() => `case ${below(3)} in 0) echo zero;; *) echo more;; esac`,
	];
	return Array.from({ length: count }, () => {
		const parts = Array.from({ length: 1 + below(5) }, () => pieces[below(pieces.length)]());
		if (below(3) === 0) parts.push(`exit ${below(256)}`);
		return parts.join("; ");
	});
}

/** Why a call may end differently: it is declared in the contract, or the host took a step after its document. */
type Reason = {
	whose: "declared" | "host";
	why: string;
	/** Whether it is about this call, and what differs is what it says. */
	explains: (call: Arguments, theirs: Came, ours: Came) => boolean;
};

const OTHER_WORDS = ["no-such-command-at-all", "echo 'unclosed"];
const isSameBut = (theirs: Came, ours: Came): boolean => theirs.kind === ours.kind && theirs.code === ours.code;

const REASONS: Reason[] = [
	{
		whose: "declared",
		why: "a command of nothing is refused (T21)",
		explains: (call, theirs, ours) =>
			String(call.command).trim() === "" && theirs.output === "" && ours.kind === "refused",
	},
	{
		whose: "host",
		why: "the host has since given / the meaning: the project",
		explains: (call, theirs, ours) => call.cwd === "/" && theirs.output === "PROJECT" && ours.output === "/",
	},
	{
		whose: "host",
		why: "the host has since added a notice that there was no terminal",
		explains: (call, theirs, ours) =>
			call.pty === true && isSameBut(theirs, ours) && Boolean(theirs.output?.startsWith(`${ours.output}\npty requested`)),
	},
	{
		whose: "host",
		why: "the host has since a shell of its own, which says that it was interrupted",
		explains: (_, theirs, ours) =>
			theirs.kind === "timed out" && isSameBut(theirs, ours) && theirs.output?.replace(/\n?error: interrupted$/, "") === ours.output,
	},
	{
		whose: "host",
		why: "the host has since a shell of its own, with other words for errors",
		explains: (call, theirs, ours) => OTHER_WORDS.includes(String(call.command)) && isSameBut(theirs, ours),
	},
	{
		whose: "host",
		why: "the shell that the host has since runs no trap at its end",
		explains: (call, theirs, ours) =>
			String(call.command).startsWith("trap ") && isSameBut(theirs, ours) && ours.output === `${theirs.output}\nbye`,
	},
	{
		whose: "host",
		why: "the host has since cut long lines at 768 bytes",
		explains: (call, theirs, ours) =>
			String(call.command).startsWith("head -c 40000") && isSameBut(theirs, ours) && ours.output?.length === 40000,
	},
	{
		whose: "host",
		why: "the host has since shown the beginning of large output, too; the document has the end",
		explains: (call, theirs, ours) =>
			call.command === "seq 1 20000" &&
			isSameBut(theirs, ours) &&
			Boolean(theirs.output?.startsWith("1\n2\n") && ours.output?.includes("\n19999\n20000")),
	},
];

async function main(): Promise<number> {
	const all = cases();
	const counts = { same: 0, declared: 0, host: 0, unexplained: 0 };
	const used = new Set<Reason>();
	for (const [number, call] of all.entries()) {
		const theirs = await byHost(call, project(`${number}/a`));
		const ours = await byUmbo(call, project(`${number}/b`));
		if (agree(theirs, ours)) {
			counts.same += 1;
			continue;
		}
		const reason = REASONS.find(reason => reason.explains(call.with, theirs, ours));
		counts[reason?.whose ?? "unexplained"] += 1;
		if (reason) used.add(reason);
		const shown = JSON.stringify(call.with);
		const text = (came: Came) => JSON.stringify(came).slice(0, 300);
		console.log(`${shown}: ${reason?.why ?? "WITHOUT A REASON"}\n  theirs: ${text(theirs)}\n  ours:   ${text(ours)}`);
	}
	const unused = REASONS.filter(reason => !used.has(reason));
	for (const reason of unused) console.log(`a reason that explains nothing any more: ${reason.why}`);
	console.log(
		`${all.length} calls: ${counts.same} the same, ${counts.declared} declared, ` +
			`${counts.host} where the host moved on, ${counts.unexplained} without a reason`,
	);
	return counts.unexplained === 0 && unused.length === 0 ? 0 : 1;
}

function agree(a: Came, b: Came): boolean {
	if (a.kind !== b.kind) return false;
	if (a.kind === "refused" || a.kind === "cancelled") return true;
	return a.code === b.code && a.output === b.output && a.timeout === b.timeout && a.requested === b.requested;
}

const EXITED = /\n*Command exited with code (-?\d+)$/;
const TIMED_OUT = /\n*\[?Command timed out after ([\d.]+) seconds\]?\n?/;

/** Takes a text apart: notices of either, and what the command wrote. */
function came(text: string, details: any, root: string): Came {
	let rest = text.replace(/\n*Wall time: [\d.]+ seconds/, "");
	const told = { timeout: details?.timeoutSeconds, requested: details?.requestedTimeoutSeconds };
	rest = rest.replace(/\n*Timeout clamped to [^\n]*/, "");
	const exited = EXITED.exec(rest);
	const timedOut = TIMED_OUT.exec(rest);
	rest = rest.replace(EXITED, "").replace(TIMED_OUT, "");
	let output = rest.replaceAll(root, "PROJECT").replaceAll(join(root, ".."), "ABOVE").trimEnd();
	if (output === "(no output)") output = "";
	if (timedOut) return { kind: "timed out", output };
	return { kind: "ended", code: exited ? Number(exited[1]) : 0, output, ...(exited ? {} : told) };
}

async function byHost(call: Case, root: string): Promise<Came> {
	let finished: (() => void) | undefined;
	const finish = new Promise<void>(resolve => (finished = resolve));
	const manager = new AsyncJobManager({ onJobComplete: async () => finished?.() });
	const session: any = {
		cwd: root,
		hasUI: false,
		settings: Settings.isolated({ "async.enabled": true, "bash.autoBackground.enabled": false }),
		getSessionFile: () => null,
		getSessionSpawns: () => "*",
		asyncJobManager: manager,
	};
	const abort = new AbortController();
	if (call.cancelled) void appears(join(root, "ready")).then(() => abort.abort());
	try {
		const result: any = await new BashTool(session).execute("call", call.with as any, abort.signal);
		const job = result.details?.async?.jobId;
		if (!job) return came(result.content[0].text, result.details, root);
		await finish;
		const ended: any = manager.getJob(job);
		return { ...came(ended?.resultText ?? ended?.errorText ?? "", result.details, root), kind: "started" };
	} catch (error: any) {
		const message = String(error?.message ?? error);
		if (call.cancelled && abort.signal.aborted) return afterCancel(call.cancelled);
		return EXITED.test(message) || TIMED_OUT.test(message)
			? came(message, {}, root)
			: { kind: "refused", output: message };
	} finally {
		await manager.dispose({ timeoutMs: 1000 });
	}
}

async function byUmbo(call: Case, root: string): Promise<Came> {
	const run = start("bash", call.with, root);
	if (call.cancelled) {
		await appears(join(root, "ready"));
		run.kill("SIGINT");
		await run.exited;
		return afterCancel(call.cancelled);
	}
	const answer = await answered(run);
	const job = answer.details?.async?.jobId;
	const text: string = answer.content?.[0]?.text ?? "";
	if (job) {
		const polled = await answered(start("job", { poll: [job] }, root));
		const ended = polled.details?.jobs?.[0];
		return { ...came(ended?.resultText ?? ended?.errorText ?? "", answer.details, root), kind: "started" };
	}
	const isEnd = !answer.isError || EXITED.test(text) || TIMED_OUT.test(text);
	return isEnd ? came(text, answer.details, root) : { kind: "refused", output: text };
}

function start(tool: string, words: Arguments, root: string) {
	const state = join(root, "..");
	return Bun.spawn([umbo, "call", "--dialect", "omp", tool, JSON.stringify(words)], {
		cwd: root,
		env: {
			...process.env,
			UMBO_STATE_DIR: join(state, "state"),
			UMBO_CONFIG_DIR: join(state, "config"),
		},
		stdin: "ignore",
		stdout: "pipe",
		stderr: "ignore",
	});
}

async function answered(run: ReturnType<typeof start>): Promise<any> {
	const text = await new Response(run.stdout as ReadableStream).text();
	await run.exited;
	try {
		return JSON.parse(text);
	} catch {
		return { isError: true, content: [{ text: `no JSON: ${text}` }] };
	}
}

/** Cancelled is what leaves nothing behind. */
async function afterCancel(word: string): Promise<Came> {
	const deadline = Date.now() + 20_000;
	while (lives(word)) {
		if (Date.now() > deadline) return { kind: "refused", output: "it lives on" };
		await Bun.sleep(50);
	}
	return { kind: "cancelled" };
}

function lives(word: string): boolean {
	return readdirSync("/proc").some(entry => {
		try {
			return /^\d+$/.test(entry) && readFileSync(`/proc/${entry}/cmdline`, "utf8").split("\0").includes(word);
		} catch {
			return false;
		}
	});
}

async function appears(file: string): Promise<void> {
	while (!(await Bun.file(file).exists())) await Bun.sleep(20);
}

const code = await main();
rmSync(home, { recursive: true, force: true });
process.exit(code);
