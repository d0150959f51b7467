//! Two examples for each verb, which its help ends with. A test parses them all.

pub(super) const EXEC: &str = "Examples:
  umbo exec 'make test 2>&1 | tee log'
  umbo exec --timeout 2m --memory 2G -- cargo test --all";
pub(super) const START: &str = "Examples:
  umbo start --name web --replace 'npm run dev'
  umbo start --after @last:ok --notify 'notify-send done' 'make install'";
pub(super) const RECIPES: &str = "Examples:\n  umbo recipes\n  umbo recipes --all --json";
pub(super) const RUN: &str =
    "Examples:\n  umbo run test\n  umbo run --background --ready 'listening on' npm:dev";
pub(super) const JOBS: &str =
    "Examples:\n  umbo jobs --state failed --newer-than 1h\n  umbo jobs --watch";
pub(super) const OUTPUT: &str =
    "Examples:\n  umbo output web --tail 100\n  umbo output --errors @last";
pub(super) const INPUT: &str =
    "Examples:\n  umbo input repl 'print(1 + 1)' --key enter\n  umbo input web --key ctrl-c";
pub(super) const WAIT: &str =
    "Examples:\n  umbo wait web --port 8080 --timeout 30s\n  umbo wait build test lint";
pub(super) const STOP: &str =
    "Examples:\n  umbo stop web\n  umbo stop --interrupt 5s --grace 10s web db";
pub(super) const RESTART: &str =
    "Examples:\n  umbo restart web\n  umbo restart --env TOKEN=new @last";
pub(super) const PAUSE: &str = "Examples:\n  umbo pause build\n  umbo pause web db";
pub(super) const RESUME: &str = "Examples:\n  umbo resume build\n  umbo resume web db";
pub(super) const SIGNAL: &str =
    "Examples:\n  umbo signal web HUP\n  umbo signal --to all build USR1";
pub(super) const WATCH: &str = "Examples:
  umbo watch '*.rs' -- cargo test
  umbo watch 'src/**/*.ts' 'npm run build && npm test'";
pub(super) const GROUPS: &str = "Examples:\n  umbo groups\n  umbo groups builds --limit 2";
pub(super) const SHELLS: &str = "Examples:\n  umbo shells\n  umbo shells reset work";
pub(super) const TOP: &str = "Examples:\n  umbo top\n  umbo top --all";
pub(super) const SCREEN: &str = "Examples:\n  umbo screen vim\n  umbo screen --json @last";
pub(super) const ATTACH: &str =
    "Examples:\n  umbo attach repl\n  umbo attach --detach-key ctrl-q repl";
pub(super) const EVENTS: &str =
    "Examples:\n  umbo events --follow\n  umbo events --after 120 --json";
pub(super) const PRUNE: &str = "Examples:\n  umbo prune --dry-run\n  umbo prune --older-than 12h";
pub(super) const READ: &str =
    "Examples:\n  umbo read src/main.rs:50-80\n  umbo read app.sqlite:users";
pub(super) const SEARCH: &str =
    "Examples:\n  umbo search --type rust 'fn main'\n  umbo search -i -C 2 todo src";
pub(super) const FIND: &str =
    "Examples:\n  umbo find '*.rs'\n  umbo find --long --limit 20 'src/**/*.ts'";
pub(super) const LS: &str = "Examples:\n  umbo ls --order newest\n  umbo ls --no-ignored src";
pub(super) const TREE: &str = "Examples:\n  umbo tree --depth 2\n  umbo tree --no-hidden src";
pub(super) const WRITE: &str =
    "Examples:\n  echo hello | umbo write note.txt\n  umbo write --force --from draft.md README.md";
pub(super) const EDIT: &str = "Examples:
  umbo edit main.py --old 'x = 1' --new 'x = 2'
  git diff | umbo edit --patch - --dry-run";
pub(super) const UNDO: &str = "Examples:\n  umbo undo --list\n  umbo undo --dry-run";
pub(super) const CLASSIFY: &str = "Examples:
  umbo classify 'find . -name *.o -delete'
  umbo classify --diff 'rm a' 'rm -rf a'";
pub(super) const RULES: &str =
    "Examples:\n  umbo rules list\n  umbo rules explain git push --force";
pub(super) const SANDBOX: &str =
    "Examples:\n  umbo sandbox explain cargo build\n  umbo sandbox try npm test";
pub(super) const APPROVALS: &str = "Examples:\n  umbo approvals\n  umbo approvals --all --json";
pub(super) const APPROVE: &str =
    "Examples:\n  umbo approve 7kq2\n  umbo approve --for 30m --prefix 7kq2";
pub(super) const DENY: &str =
    "Examples:\n  umbo deny 7kq2\n  umbo deny --reason 'use the staging database' 7kq2";
pub(super) const TRUST: &str = "Examples:\n  umbo trust --show\n  umbo trust";
pub(super) const AUDIT: &str = "Examples:\n  umbo audit show --last 50\n  umbo audit verify";
pub(super) const CONFIG: &str =
    "Examples:\n  umbo config show --origin\n  umbo config set tools.mode auto";
pub(super) const SECRETS: &str = "Examples:\n  umbo secrets check\n  umbo secrets check --json";
pub(super) const MCP: &str =
    "Examples:\n  umbo mcp --print-config\n  umbo mcp --tools shell,files --mode auto";
pub(super) const CALL: &str = "Examples:
  umbo call exec '{\"command\": \"ls\"}'
  umbo call --dialect claude-code Bash '{\"command\": \"ls\"}'";
pub(super) const TOOLS: &str = "Examples:\n  umbo tools\n  umbo tools --dialect codex --json";
pub(super) const AGENT: &str =
    "Examples:\n  umbo agent\n  umbo agent -p 'why does the build fail?' --max-turns 20";
pub(super) const MODELS: &str = "Examples:\n  umbo models\n  umbo models --check sonnet";
pub(super) const SESSIONS: &str =
    "Examples:\n  umbo sessions --all\n  umbo sessions export --format html @last";
pub(super) const INSTALL: &str = "Examples:\n  umbo install\n  umbo install claude-code";
pub(super) const UNINSTALL: &str =
    "Examples:\n  umbo uninstall --print claude-code\n  umbo uninstall --yes codex";
pub(super) const DOCTOR: &str = "Examples:\n  umbo doctor\n  umbo doctor --client claude-code";
pub(super) const COMPLETIONS: &str = "Examples:
  source <(umbo completions bash)
  umbo completions fish > ~/.config/fish/completions/umbo.fish";
pub(super) const MAN: &str =
    "Examples:\n  umbo man ~/.local/share/man/man1\n  umbo man /usr/local/share/man/man1";
pub(super) const TOUR: &str = "Examples:\n  umbo tour\n  umbo tour --state-dir /tmp/tour";
