//! Compilers, test runners, build tools and the languages' own command lines.

use crate::effect::{
    BUILD, DELETE, DESTROY, FETCH, INSTALL, LISTEN, OVERWRITE, READ, RELEASE, RUN, SECRET, SYNC,
    UNKNOWN, WRITE,
};
use crate::row::{Reader, Row, Takes, row};

/// Options of cargo's commands that show.
const CARGO: &str = "p:e:i:F:vqd:Z --package= --edges= --invert= --depth= --format= --features= --all-features --no-default-features --target= --format-version= --filter-platform= --manifest-path= --prefix= --charset= --workspace --all --exclude= --no-deps --no-dedupe --duplicates --verbose --quiet --color= --locked --offline --frozen --prune= --list --message-format= --limit= --registry= --index= --root-deps-only --ignore= --deny= --json --no-fetch --stale --public";

pub(super) const ROWS: &[Row] = &[
    // Rust.
    row("cargo", READ).subs().options("v --verbose V").valued("-C --config -Z --color").flags("--locked --offline --frozen --list").when(&[("--config -Z", RUN), ("--list", READ)]),
    row("cargo tree|cargo metadata|cargo version|cargo help|cargo locate-project|cargo pkgid|cargo read-manifest|cargo verify-project", READ).options(CARGO)
        .valued("-p --package -e --edges -i --invert --depth --format --features --target --format-version --filter-platform --manifest-path --prefix --charset")
        .when(&[("--config -Z", RUN)]),
    row("cargo search|cargo info|cargo outdated", FETCH).options(CARGO).when(&[("--config -Z", RUN)]),
    row("cargo audit", FETCH).options(CARGO).subs().valued("-d --db -D --deny -f --file -c --color --ignore --target-arch --target-os --url").flags("-n --no-fetch --stale --no-local-crates --json").when(&[("--fix", WRITE)]),
    row("cargo audit bin", FETCH).options(CARGO),
    row("cargo audit fix", WRITE),
    row("cargo deny", FETCH).options(CARGO).subs().valued("--manifest-path --exclude --features --target -L --log-level -f --format -c --color").flags("--workspace --all-features --no-default-features --offline --locked --frozen"),
    row("cargo deny check|cargo deny list|cargo deny fetch", FETCH).options(CARGO),
    row("cargo deny init", WRITE),
    row("cargo fmt", BUILD).valued("-p --package --manifest-path").when(&[("--check --all -p --package -q -v --edition", READ)]),
    row("cargo build|cargo b|cargo check|cargo c|cargo test|cargo t|cargo run|cargo r|cargo bench|cargo doc|cargo d|cargo clippy|cargo fix|cargo nextest|cargo llvm-cov|cargo tarpaulin|cargo expand|cargo miri|cargo hack|cargo make|cargo watch|cargo xtask|cargo rustc|cargo rustdoc|cargo fuzz|cargo insta|cargo mutants|cargo msrv|cargo semver-checks|cargo dist|cargo leptos|cargo tauri|cargo criterion|cargo flamegraph|cargo asm|cargo geiger|cargo udeps|cargo bloat", BUILD),
    row("cargo add|cargo remove|cargo rm|cargo update|cargo generate-lockfile|cargo vendor|cargo fetch|cargo init|cargo new|cargo package|cargo generate|cargo sort|cargo machete", WRITE),
    row("cargo clean", DELETE),
    row("cargo install|cargo uninstall|cargo binstall", INSTALL),
    row("cargo publish|cargo yank|cargo owner|cargo release|cargo smart-release|cargo workspaces", RELEASE),
    row("cargo login|cargo logout", SECRET),
    row("rustup", READ).subs().flags("-v -q"),
    row("rustup show|rustup which|rustup check|rustup help", READ).options("vqi --verbose --installed --toolchain= --quiet"),
    row("rustup doc", RUN).when(&[("--path", READ)]),
    row("rustup toolchain|rustup component|rustup target|rustup override", READ).subs(),
    row("rustup toolchain list|rustup component list|rustup target list|rustup override list", READ).options("vqi --verbose --installed --toolchain= --quiet"),
    row("rustup update|rustup install|rustup default|rustup toolchain install|rustup toolchain uninstall|rustup toolchain link|rustup component add|rustup component remove|rustup target add|rustup target remove|rustup override set|rustup override unset|rustup self|rustup set|rustup uninstall", INSTALL),
    row("rustup run", RUN),
    row("rustc|rustdoc|clippy-driver", BUILD).takes(Takes::Paths).valued("--print --explain").beyond(0, BUILD, "").when(&[("--print", READ), ("--explain", READ), ("-V -v", READ), ("--version --verbose -v", READ)]),
    row("rustfmt", WRITE).takes(Takes::Paths).when(&[("--check --edition", READ)]),
    row("rust-analyzer|clangd|gopls|pyright-langserver", RUN),
    // JavaScript.
    row("node|nodejs|deno|ts-node|tsx", RUN).when(&[("-v", READ)]).reader(Reader::Code),
    row("tsc", BUILD).when(&[("-v", READ), ("--showConfig -p", READ)]),
    row("eslint|prettier|biome|stylelint|oxlint|standard|xo|dprint|svelte-check|vue-tsc|tslint|knip|depcheck|madge", BUILD),
    row("jest|vitest|mocha|ava|cypress|playwright|karma|nyc|c8|rollup|esbuild|turbo|nx|lerna|vue|svelte-kit|expo|react-native|swc|babel|gulp|grunt|tsup|prisma|drizzle-kit|sequelize|typeorm|graphql-codegen", BUILD),
    row("webpack|webpack-dev-server|vite|parcel|next|nuxt|astro|gatsby|ng|storybook|rspack|rsbuild|wrangler|http-server|serve|live-server", BUILD).reader(Reader::Server),
    // Python.
    row("python|python3|python2|pypy|pypy3|python3.8|python3.9|python3.10|python3.11|python3.12|python3.13|python3.14|ipython", RUN).when(&[("-V", READ)]).reader(Reader::Code),
    row("pytest|py.test|tox|nox|unittest|coverage|hypothesis|behave|robot|locust|invoke|fab|scons|meson|waf|doit|snakemake|sphinx-build|celery|alembic", BUILD),
    row("mkdocs|django-admin|flask|uvicorn|gunicorn|hypercorn|jupyter|streamlit|gradio", BUILD).reader(Reader::Server),
    row("mypy|pyright|flake8|pylint|pydocstyle|pycodestyle|bandit|vulture|radon|ty|basedpyright", BUILD),
    row("ruff", READ).subs(),
    row("ruff check", BUILD),
    // Also where it only checks, it keeps a cache in the project.
    row("ruff format|ruff clean", WRITE),
    row("ruff rule|ruff config|ruff linter|ruff version|ruff help", READ).options("--all --output-format@"),
    row("isort", WRITE).takes(Takes::Paths).when(&[("--check --diff -q -c -d", READ), ("--diff --check -q -c -d", READ), ("--check-only --diff -q", READ), ("-c -d -q --diff", READ), ("-d -c -q --check", READ)]),
    row("black|autopep8|yapf|autoflake|pyupgrade|docformatter|add-trailing-comma", WRITE).takes(Takes::Paths).when(&[("--check --diff -q", READ), ("--diff --check -q", READ), ("--check-only --diff", READ)]),
    // Go.
    row("go", READ).subs().single_dash().valued("-C"),
    row("go version|go env|go help", READ).options("-m -v -u -json -f= -deps -test -e -find -versions -retracted -mod= -tags= -c -cmd -src -all -short -vendor -modcacherw -x -changed -reuse= -compiled -go= -race -C=").single_dash().when(&[("-w -u", WRITE)]),
    row("go list|go doc", READ).options("-m -v -u -json -f= -deps -test -e -find -versions -retracted -mod= -tags= -c -cmd -src -all -short -vendor -modcacherw -x -changed -reuse= -compiled -go= -race -C=").single_dash().when(&[("-toolexec -exec", RUN), ("-modfile -overlay -mod -export -compiled", RUN), ("-http", LISTEN)]),
    row("go vet", BUILD).single_dash().when(&[("-vettool -toolexec -exec", RUN)]),
    row("go build|go test|go run|go generate|go tool|go install|go clean|go fix|go bug|go work", BUILD),
    row("go fmt|go get", WRITE),
    row("go mod", READ).subs(),
    row("go mod graph|go mod why|go mod verify", READ).options("-m -v -u -json -f= -deps -test -e -find -versions -retracted -mod= -tags= -c -cmd -src -all -short -vendor -modcacherw -x -changed -reuse= -compiled -go= -race -C="),
    row("go mod tidy|go mod download|go mod init|go mod edit|go mod vendor", WRITE),
    row("gofmt|goimports|gofumpt", READ).options("-d -l -e -s -r= -cpuprofile= -v -local= -format-only -srcdir= -extra -lang= -modpath= -diff").takes(Takes::Paths).single_dash().when(&[("-w", WRITE), ("-cpuprofile -memprofile -trace", OVERWRITE)]),
    row("golangci-lint|staticcheck|govulncheck|dlv|ginkgo|air|goreleaser|buf|protoc|mockgen|sqlc|wire|templ", BUILD),
    // C, C++ and the like.
    row("gcc|g++|cc|c++|clang|clang++|ld|as|ranlib|strip|objcopy|nasm|tcc|zig|nvcc|emcc|swiftc|javac|kotlinc|scalac|ghc|ocamlc|dmd|nim|crystal|valac|fpc|gfortran", BUILD)
        .when(&[("-v", READ), ("-dumpversion", READ), ("-dumpmachine", READ), ("-V", READ)])
        .shaped(&[("-fplugin=* -specs=* -wrapper -B*", RUN), ("@*", RUN)])
        .beyond(0, BUILD, ""),
    row("make|gmake|bmake", BUILD).when(&[("--eval -E", RUN)]).shaped(&[("-", RUN)]),
    row("cmake|ninja|ctest|cpack|bazel|bazelisk|buck|buck2|pants|just|task|mage|rake|ant|mvn|mvnw|gradle|gradlew|sbt|lein|stack|cabal|mix|rebar3|dune|dub|swift|xcodebuild|xcrun|msbuild|dotnet|earthly|tilt|skaffold|premake5|autoconf|automake|configure|libtool|aclocal|flutter|dart|fastlane|pod", BUILD),
    row("clang-format", READ).options("-style= -fallback-style= -assume-filename= -n -dry-run -Werror -lines= -offset= -length= -sort-includes -verbose -cursor= -dump-config -ferror-limit= -files= -qualifier-alignment=").takes(Takes::Paths).single_dash().when(&[("-i", WRITE)]),
    row("clang-tidy|cppcheck|include-what-you-use|bear", BUILD),
    row("markdownlint|actionlint|vale|write-good|alex|cspell|htmlhint|tidy|luacheck|ansible-lint|tflint|checkov|semgrep|gitleaks|trufflehog|dive", BUILD),
    row("shellcheck|hadolint|yamllint|jsonlint|typos|codespell", READ).options("aCs:e:f@d:W:S:P:xVqt:l: --shell= --exclude= --include= --format@ --severity= --color? --norc --external-sources --check-sourced --enable= --wiki-link-count= --list-optional --source-path= --strict --no-warnings --list-files --ignore= --failure-threshold= --trusted-registry= --no-fail --no-color --error= --warning= --info= --style= --hidden --type= --exclude= --files --diff --locale= --quiet-level= --skip= --count --check-filenames --check-hidden --ignore-words-list=")
        .takes(Takes::Paths)
        .when(&[("-i -w --fix --write-changes --write -m --in-place --autofix -o --output -r --report-path --rcfile --config --config-file -c --dump-config --interactive", WRITE)]),
    row("shfmt", READ).options("ldsi:pf:mkscp --list --diff --simplify --minify --indent= --language-dialect= --posix --filename= --binary-next-line --case-indent --space-redirects --keep-padding --func-next-line --find --to-json bn ci sr kp fn ln:").takes(Takes::Paths).when(&[("-w --write", WRITE)]),
    row("gdb|lldb|strace|ltrace|perf|valgrind|dtrace|bpftrace|ftrace|rr|heaptrack", RUN),
    row("ldd", RUN),
    row("ctags|etags|cscope|global|gtags", WRITE),
    row("hyperfine|entr|watchexec|multitime|criterion|nodemon|pm2|concurrently", RUN),
    // Other interpreters.
    row("perl", RUN).when(&[("-v", READ), ("-V", READ)]).reader(Reader::Code),
    row("ruby|irb|php|lua|luajit|R|Rscript|julia|swipl|guile|racket|sbcl|clojure|clj|scala|groovy|elixir|iex|erl|tclsh|wish|octave|gnuplot|osascript|java|kotlin|jshell|ghci|runghc|runhaskell|ocaml|m4|wasmtime|wasmer|qemu-x86_64|wine|mono", RUN)
        .when(&[("-v", READ), ("-version", READ)])
        .reader(Reader::Code),
    row("rspec|minitest|rubocop|standardrb|phpunit|phpstan|psalm|pest", BUILD),
    row("rails|artisan", BUILD).reader(Reader::Server),
    // Databases.
    row("psql|mysql|mariadb|sqlite3|sqlite|duckdb|clickhouse-client|usql|pgcli|mycli", RUN).reader(Reader::Sql),
    row("redis-cli|valkey-cli", RUN).reader(Reader::Redis),
    row("mongosh|mongo|mongos|cqlsh|influx|sqlcmd|sqlplus|bq|isql|tsql|osql|db2|clickhouse|cypher-shell|arangosh|couchbase-cli", RUN).reader(Reader::Statements),
    row("pg_isready", FETCH).options("d:h:p:qt:U: --dbname= --host= --port= --quiet --timeout= --username="),
    row("pg_dump|pg_dumpall|mysqldump|mongodump", WRITE),
    row("dropdb|dropuser|pg_restore|mysqladmin|pg_ctl|initdb|mongorestore|pg_resetwal", RELEASE),
    row("createdb|createuser|pg_basebackup|vacuumdb|reindexdb", WRITE),
    // Servers that listen.
    row("ngrok|cloudflared|localtunnel|lt|caddy|nginx|apachectl|httpd|redis-server|postgres|mysqld|mongod|sshd|dropbear", LISTEN),
    row("ab|wrk|hey|vegeta|k6|siege|h2load|bombardier", LISTEN),
    row("ffmpeg|convert|magick|mogrify|sox|pandoc|pdflatex|xelatex|latexmk|dot|inkscape|gs|pdftk|qpdf|optipng|jpegoptim|cwebp|svgo", WRITE),
    row("pdfinfo|soxi", READ).options("f:l: -box -meta -js -struct -struct-text -isodates -rawdates -dests -listenc -enc= -opw= -upw= -url -custom vqaDrstTcbBd: --verbose").takes(Takes::Paths),
    row("ffprobe", READ)
        .takes(Takes::Paths)
        .single_dash()
        .valued("-i -v -loglevel -f -of -output_format -print_format -select_streams -show_entries -read_intervals")
        .only("-hide_banner -show_format -show_streams -show_frames -show_packets -show_chapters -show_error -show_programs -count_frames -count_packets -pretty -sexagesimal -unit -prefix -version -formats -codecs -L -h")
        .when(&[("-o -report", OVERWRITE)])
        .shaped(&[("*:*", UNKNOWN)]),
    row("identify", READ)
        .takes(Takes::Paths)
        .single_dash()
        .valued("-format")
        .only("-verbose -quiet -ping -unique -regard-warnings -version")
        .shaped(&[("|* *:* @*", UNKNOWN)]),
    row("mediainfo", READ).takes(Takes::Paths).only("-f --Full --Version").shaped(&[("*://*", UNKNOWN)]),
    row("exif", READ).takes(Takes::Paths).only("-l --list-tags -i --ids -m --machine-readable -t --tag --ifd -x --xml-output -d --debug -w --width").valued("-t -w"),
    row("jpeginfo", READ).takes(Takes::Paths).only("-c --check -i --info -l --lsstyle -v --verbose -q --quiet -5 --md5").when(&[("-d --delete", DESTROY)]),
    row("pngcheck", READ).takes(Takes::Paths).only("-v -q -t -7 -p -c -f"),
    row("exiftool", READ)
        .takes(Takes::Paths)
        .single_dash()
        .only("-json -j -s -S -s3 -G -G1 -a -u -n -csv -ee -q -fast -X -T -t -r -ver -b -H -l")
        .shaped(&[("-*=*", WRITE)]),
    row("asdf|mise|rtx|nvm|fnm|volta|n|pyenv|rbenv|nodenv|goenv|jenv|sdk|rvm|tfenv|direnv|conda|mamba|micromamba", SYNC).subs().other(INSTALL),
    row("asdf current|asdf list|mise ls|mise current|nvm ls|nvm list|nvm current|fnm list|fnm current|volta list|pyenv versions|pyenv version|pyenv which|rbenv versions|rbenv version|conda list|conda info|mamba list|mise list|asdf which", READ).options("qJcvi --json --quiet --current --installed --missing --offline --bare --no-colors --all --revision --name= -n= -p= --prefix= -e --envs --explicit --export --canonical --md5 --full-name --no-pip --show-channel-urls"),
];
