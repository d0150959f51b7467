//! Package managers of languages and of systems.

use crate::effect::{
    BUILD, DELETE, DESTROY, FETCH, INSTALL, OVERWRITE, READ, RELEASE, RUN, SECRET, SYSTEM_INSTALL,
    UNKNOWN, WRITE,
};
use crate::row::{Row, Takes, row};

/// Options of npm and its kin that show.
const NPM: &str = "aglpsw:rv --all --depth= --json --long --parseable --global --omit= --include= --link --package-lock-only --workspace= --workspaces --include-workspace-root --production --only= --dev --prod --prefix= --no-audit --registry= --no-color --color= --unicode --before= --audit-level= --filter= --recursive --long --compatible --lockfile-only --searchlimit= --searchopts= --searchexclude= --prefer-online --prefer-offline --offline --no-description --sbom-format= --sbom-type= --expect-results --expect-result-count= --fields --pattern= --level= --groups= --summary --cwd= --non-interactive --silent --ignore-registry-errors --dir= --omit";
/// Options of pip and its kin that show.
const PIP: &str = "voufi:ql --frozen --locked --graph --short --universal --no-sync --package= --python-version= --outdated --uptodate --editable --local --user --path= --pre --format= --not-required --exclude-editable --include-editable --exclude= --verbose --files --all --requirement= --index-url= --extra-index-url= --no-index --find-links= --disable-pip-version-check --no-color --quiet --no-input --timeout= --retries= --no-cache-dir --trusted-host= --cert= --client-cert= --isolated --global --site --strict --system --depth= --prune= --no-dedupe --invert --only-installed --only-downloads --all-versions --tree --top-level --latest --why --without= --with= --only= --no-dev --show-paths --show-version-specifiers --full-path --offline --json --bare --reverse --json-tree";
/// Options of system package managers that show.
const SYSTEM: &str = "aivlqnfsrctu:C --installed --upgradable --all-versions --manual-installed --verbose --names-only --full --no-all-versions --recurse --important --quiet --target-release= --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances --no-depends --no-pre-depends --implicit --generate --with-source= --available --extras --obsoletes --recent --upgrades --updates --autoremove --showduplicates --enabled --disabled --all --cacheonly --refresh --installed-only --not-installed-only --details --type= --match-exact --provides --requires --conflicts --search-descriptions --repo= --sort-by-name --sort-by-repo --json --json=v1 --json=v2 --formula --formulae --cask --casks --versions --pinned --multiple --tree --topological --annotate --include-build --include-optional --include-test --skip-recommended --missing --recursive --greedy --fetch-HEAD --desc --eval-all --analytics --github-packages-downloads --user --system --runtime --app --columns= --arch= --show-details --show-metadata --color= --whatprovides= --whatrequires= --queryformat= --qf= --list --info --depends --rdepends --description --file --replaces --size --triggers --webpage --license --origin --orphaned -1 -r -t";

pub(super) const ROWS: &[Row] = &[
    // npm and friends.
    row("npm", READ)
        .subs()
        .options("v")
        .valued("--prefix -w --workspace --registry --userconfig --globalconfig --script-shell -C")
        .flags("-g --global -s --silent -d -dd --json --workspaces -ws --no-audit --no-fund --offline --prefer-offline -l --long -p --parseable")
        .when(&[("--userconfig --globalconfig --script-shell --node-options --git --editor --viewer --shell --browser --init-module", RUN)]),
    row("npm ls|npm list|npm ll|npm la|npm root|npm prefix|npm bin|npm explain|npm why|npm query|npm help|npm help-search|npm completion|npm sbom", READ).options(NPM).valued("--depth --prefix -w"),
    row("npm view|npm info|npm show|npm v|npm search|npm outdated|npm stars|npm ping|npm whoami|npm doctor", FETCH).options(NPM),
    row("npm fund", FETCH).options(NPM).valued("-w --workspace --which").beyond(0, RUN, ""),
    row("npm audit", FETCH).options(NPM)
        .subs()
        .valued("--audit-level --omit --include --registry -w --workspace")
        .flags("--json --production --force -f --package-lock-only --workspaces --dry-run --foreground-scripts --ignore-scripts --include-workspace-root --install-links"),
    row("npm audit fix", INSTALL),
    row("npm audit signatures", FETCH).options(NPM),
    // Without a name it lists what could be run.
    row("npm run|npm run-script", READ).options(NPM).valued("-w --workspace --prefix").beyond(0, BUILD, ""),
    row("npm test|npm t|npm tst|npm start|npm stop|npm restart|npm build|npm rebuild", BUILD),
    row("npm install|npm i|npm add|npm ci|npm clean-install|npm uninstall|npm remove|npm rm|npm un|npm update|npm up|npm upgrade|npm dedupe|npm prune|npm link|npm unlink|npm it|npm install-test|npm shrinkwrap|npm cache|npm init|npm create|npm set-script|npm version|npm pack|npm edit", INSTALL).when(&[("-g --global", SYSTEM_INSTALL)]),
    row("npm config|npm c", READ).subs(),
    row("npm config get|npm config list|npm config ls", READ).options(NPM).when(&[("--json -l", READ)]),
    row("npm config set|npm config delete|npm config edit|npm config fix|npm set", WRITE),
    row("npm get", READ).options(NPM),
    row("npm pkg", READ).subs().valued("-w --workspace").flags("--json"),
    row("npm pkg get", READ).options(NPM),
    row("npm pkg set|npm pkg delete|npm pkg fix", INSTALL),
    row("npm publish|npm unpublish|npm deprecate|npm dist-tag|npm owner|npm access|npm team|npm org|npm hook|npm star|npm unstar", RELEASE),
    row("npm login|npm logout|npm adduser|npm token|npm profile", SECRET),
    row("npm exec|npm x|npx|pnpx|bunx|pnpm dlx|pnpm exec|yarn dlx|yarn exec|yarn node|bun x", RUN),
    row("npm explore|npm bugs|npm docs|npm home|npm repo", RUN),
    row("pnpm", READ).subs().other(BUILD).valued("-C --dir --filter -F").flags("-r --recursive -w --workspace-root --silent -s --offline --color --no-color -g --global"),
    row("pnpm store|pnpm config|pnpm c", READ).subs(),
    row("pnpm store path|pnpm store status|pnpm config get|pnpm config list|pnpm c get|pnpm c list", READ).options(NPM),
    row("pnpm store prune|pnpm store add|pnpm config set|pnpm config delete|pnpm c set|pnpm c delete", WRITE),
    row("pnpm ls|pnpm list|pnpm la|pnpm ll|pnpm why|pnpm root|pnpm bin|pnpm licenses", READ).options(NPM),
    row("pnpm outdated|pnpm view|pnpm info|pnpm audit|pnpm search", FETCH).options(NPM).when(&[("--fix", WRITE)]),
    row("pnpm install|pnpm i|pnpm add|pnpm remove|pnpm rm|pnpm update|pnpm up|pnpm link|pnpm unlink|pnpm import|pnpm rebuild|pnpm prune|pnpm fetch|pnpm dedupe|pnpm patch|pnpm env|pnpm setup|pnpm self-update|pnpm init|pnpm create", INSTALL).when(&[("-g --global", SYSTEM_INSTALL)]),
    row("pnpm publish|pnpm deploy|pnpm unpublish|pnpm deprecate", RELEASE),
    row("yarn", INSTALL).subs().other(BUILD).valued("--cwd").flags("-s --silent --json --offline --non-interactive"),
    row("yarn list|yarn why|yarn licenses|yarn bin|yarn help|yarn versions", READ).options(NPM),
    row("yarn info|yarn outdated|yarn audit", FETCH).options(NPM),
    row("yarn install|yarn add|yarn remove|yarn upgrade|yarn up|yarn link|yarn unlink|yarn import|yarn init|yarn create|yarn set|yarn cache|yarn dedupe|yarn global|yarn config|yarn version|yarn pack|yarn plugin|yarn policies", INSTALL),
    row("yarn publish|yarn npm|yarn tag|yarn owner|yarn team", RELEASE),
    row("yarn login|yarn logout", SECRET),
    row("bun", READ).subs().other(BUILD).valued("--cwd").flags("--silent --bun").when(&[("-e --eval -p --print -r --preload --require --import -c --config", RUN)]),
    row("bun install|bun i|bun add|bun a|bun remove|bun rm|bun update|bun link|bun unlink|bun init|bun create|bun upgrade|bun patch", INSTALL),
    row("bun publish", RELEASE),
    row("bun pm", READ).subs(),
    row("bun pm ls|bun pm bin|bun pm hash", READ).options(NPM),
    row("bun outdated|bun audit|bun info", FETCH).options(NPM),
    row("corepack", INSTALL).subs().other(INSTALL),
    row("jsr|changeset|semantic-release|np|release-it", RELEASE),
    // Python.
    row("pip|pip3|pip3.11|pip3.12|pip3.13", READ)
        .subs()
        .valued("--python --log --cache-dir --proxy --timeout --retries")
        .flags("--isolated --no-input --disable-pip-version-check --no-cache-dir --no-python-version-warning --require-virtualenv")
        .when(&[("--log", WRITE), ("--python", RUN)]),
    row("uv pip", READ).subs(),
    row("pip list|pip show|pip freeze|pip check|pip help|pip debug|pip inspect|pip3 list|pip3 show|pip3 freeze|pip3 check|pip3 inspect|uv pip list|uv pip show|uv pip freeze|uv pip check|uv pip tree", READ).options(PIP)
        .valued("--format -i --index-url --exclude -V --python --path")
        .when(&[("--log", WRITE), ("--python", RUN)]),
    row("pip index|pip search|pip3 index|pip3 search", FETCH).options(PIP),
    row("pip install|pip uninstall|pip download|pip wheel|pip lock|pip3 install|pip3 uninstall|pip3 download|pip3 wheel|uv pip install|uv pip uninstall|uv pip sync|uv pip compile", INSTALL)
        .when(&[("--break-system-packages", SYSTEM_INSTALL)]),
    row("pip cache|pip3 cache", READ).subs(),
    row("pip cache dir|pip cache info|pip cache list|pip3 cache dir|pip3 cache info|pip3 cache list", READ).options(PIP),
    row("pip cache remove|pip cache purge|pip3 cache remove|pip3 cache purge", DELETE),
    row("pip config|pip3 config", READ).subs().valued("--editor").flags("--user --global --site").when(&[("--editor", RUN)]),
    row("pip config list|pip config get|pip3 config list|pip3 config get|pip config debug", READ).options(PIP),
    row("pip config set|pip config unset|pip config edit|pip3 config set|pip3 config unset", WRITE),
    row("uv", READ).subs().valued("--directory --project --python -p --color --config-file --cache-dir").flags("--offline -n --no-cache --no-config --no-progress --native-tls --no-python-downloads").when(&[("--config-file --python", RUN)]),
    // Without `--frozen` it brings the lock file up to date.
    row("uv tree", INSTALL).when(&[("--frozen --depth --prune --package --no-dedupe --invert --no-dev --all-groups --universal --offline -q", READ)]).valued("--depth --prune --package"),
    row("uv help", READ).options(PIP),
    row("uv version", READ).only("--short --output-format --package --frozen --locked --offline").valued("--output-format --package").beyond(0, WRITE, "").when(&[("--bump", WRITE)]),
    row("uv python|uv tool|uv cache|uv self", READ).subs(),
    row("uv python list|uv python find|uv python dir|uv tool list|uv tool dir|uv cache dir", READ).options(PIP),
    row("uv add|uv remove|uv sync|uv lock|uv init|uv venv|uv export|uv build|uv format|uv python install|uv python uninstall|uv python pin|uv tool install|uv tool uninstall|uv tool upgrade|uv cache clean|uv cache prune|uv self update", INSTALL),
    row("uv run|uv tool run|uvx|pipx run|poetry shell|pipenv shell|hatch shell|pdm shell|rye run", RUN),
    row("uv publish|poetry publish|twine|flit|hatch publish|pdm publish", RELEASE),
    row("poetry|pdm|hatch|rye", READ).subs().valued("-C --directory -P --project -p -e --env").flags("-n --no-interaction --no-plugins --no-cache --ansi --no-ansi"),
    row("pipenv", READ).subs().flags("--where --venv --py --envs --bare --support").when(&[("--rm", DESTROY), ("--clear --python --three --two --site-packages", WRITE)]),
    row("poetry check|poetry about|poetry help|pipenv graph|pipenv check|rye list|rye show", READ).options(PIP),
    // The first makes the environment that it looks at; a version may be computed by code of the project.
    row("poetry show|pdm list|pdm info|hatch version", INSTALL),
    row("poetry version", READ).only("-s --short --dry-run").beyond(0, WRITE, ""),
    row("poetry env|poetry cache", READ).subs(),
    row("poetry env info|poetry env list", READ).options(PIP),
    row("poetry config", READ).subs().flags("--list --local").when(&[("--unset --migrate", WRITE)]),
    row("poetry search", FETCH).options(PIP),
    row("poetry install|poetry add|poetry remove|poetry update|poetry lock|poetry init|poetry new|poetry build|poetry export|poetry sync|poetry env use|poetry env remove|pipenv install|pipenv uninstall|pipenv lock|pipenv sync|pdm install|pdm add|pdm remove|pdm update|pdm lock|rye sync|rye add|rye remove|hatch build|hatch env|poetry self", INSTALL),
    row("poetry run|pipenv run|pdm run|hatch run|hatch test", BUILD),
    row("pipx", READ).subs(),
    row("pipx list", READ).options(PIP),
    row("pipx install|pipx uninstall|pipx upgrade|pipx inject|pipx ensurepath|pipx reinstall", INSTALL),
    // Ruby, PHP, Perl, others.
    row("bundle|bundler", INSTALL).subs().other(INSTALL),
    row("cpan", RUN),
    row("gem|composer|cpanm|luarocks|opam|hex|nuget|vcpkg|conan", READ).subs().other(INSTALL),
    row("gem list|gem environment|gem which|gem contents|gem dependency|gem info|gem specification|luarocks list|luarocks show|opam list|opam show", READ).options("acdilrtvqp:n:bu: --all --local --remote --both --details --versions --installed --no-installed --exact --prerelease --pipe --quiet --verbose --backtrace --version= --platform= --prefix --lib-only --reverse-dependencies"),
    row("gem search", FETCH).options("acdilrtvqp:n:bu: --all --local --remote --both --details --versions --installed --no-installed --exact --prerelease --pipe --quiet --verbose --backtrace --version= --platform= --prefix --lib-only --reverse-dependencies"),
    row("gem push|gem yank|gem owner|gem signin", RELEASE),
    row("bundle list|bundle show|bundle info|bundle check|bundle outdated|bundle platform|composer show|composer validate|composer licenses|composer why|composer depends|composer outdated|composer diagnose|composer run|composer run-script|composer exec", BUILD),
    // The system's packages.
    row("apt|apt-get|aptitude", SYSTEM_INSTALL).subs().valued("-o -c -t --option --config-file").flags("-y --yes -s --simulate --dry-run -qq --assume-no").when(&[("-o --option -c --config-file", RUN)]),
    row("apt list|apt show|apt search|apt policy|apt depends|apt rdepends|apt changelog|apt-get check|apt-get changelog|aptitude search|aptitude show|aptitude why", READ).options(SYSTEM),
    row("apt install|apt remove|apt purge|apt update|apt upgrade|apt full-upgrade|apt autoremove|apt clean|apt autoclean|apt reinstall|apt edit-sources|apt satisfy|apt source|apt download|apt build-dep|apt-get install|apt-get remove|apt-get purge|apt-get update|apt-get upgrade|apt-get dist-upgrade|apt-get autoremove|apt-get clean|apt-get autoclean|apt-get source|apt-get download|apt-get build-dep|aptitude install|aptitude remove|aptitude update|aptitude upgrade", SYSTEM_INSTALL),
    row("apt-cache", READ).subs().valued("-o -c").when(&[("-o --option -c --config-file", RUN)]),
    row("apt-cache search|apt-cache show|apt-cache policy|apt-cache depends|apt-cache rdepends|apt-cache pkgnames|apt-cache stats|apt-cache madison|apt-cache showpkg", READ).options(SYSTEM),
    row("apt-mark|apt-key|add-apt-repository|dpkg-reconfigure|update-alternatives|alternatives|snap|flatpak|dpkg-divert", SYSTEM_INSTALL).subs().other(SYSTEM_INSTALL),
    row("snap list|snap info|snap find|flatpak list|flatpak info|apt-mark showmanual|apt-mark showhold|apt-mark showauto", READ).options(SYSTEM),
    row("dpkg", SYSTEM_INSTALL).takes(Takes::Names).when(&[
        ("-l", READ), ("-L", READ), ("-s", READ), ("-S", READ), ("-c", READ), ("-I", READ), ("-p", READ),
        ("--list", READ), ("--listfiles", READ), ("--status", READ), ("--search", READ), ("--print-architecture", READ),
        ("--get-selections", READ), ("--contents", READ), ("--info", READ), ("--audit", READ), ("--verify", READ)]),
    row("dpkg-query", READ).options("L:S:W;c:f:l;p;s; --admindir= --control-list= --control-path= --control-show= --list? --listfiles= --no-pager --print-avail? --root= --search= --show? --showformat= --status? -Wf= -W -l -s -p").valued("-f --showformat -W --show"),
    row("dnf|yum|microdnf|zypper|tdnf", SYSTEM_INSTALL)
        .subs()
        .other(SYSTEM_INSTALL)
        .flags("-y --assumeyes -n --non-interactive --refresh -C --cacheonly --noplugins --disableplugin")
        .when(&[("--setopt -c --config --installroot --enableplugin --plugindir --root -R", RUN)]),
    row("dnf list|dnf info|dnf search|dnf repolist|dnf provides|dnf repoquery|dnf deplist|yum list|yum info|yum search|yum repolist|yum provides|yum deplist", READ).options(SYSTEM),
    // They take the lock of the package system even to look.
    row("zypper lr|zypper repos|zypper se|zypper search|zypper info|zypper if|zypper lu|zypper list-updates|zypper lp|zypper list-patches|zypper pa|zypper packages|zypper wp|zypper what-provides|zypper ls|zypper services|zypper ll|zypper locks|zypper pt|zypper patterns|zypper products|zypper pd|zypper pch|zypper patch-check|zypper ps|zypper licenses|zypper targetos|zypper tos|zypper versioncmp|zypper vcmp", UNKNOWN),
    row("rpm", SYSTEM_INSTALL).when(&[("-q -a -i -l -f -c -d -R -p", READ), ("-V -a", READ), ("--query -a -i -l -f --all", READ)]),
    row("pacman|yay|paru", SYSTEM_INSTALL).when(&[("-Q -q -i -l -s -o -e -t -u -d -m -n -k", READ), ("-s -S -q", READ), ("-i -S", READ)]),
    row("apk", SYSTEM_INSTALL).subs().other(SYSTEM_INSTALL),
    row("apk info|apk list|apk search|apk policy|apk stats|apk version|apk dot", READ).options(SYSTEM),
    row("brew", READ).subs().other(INSTALL).flags("--prefix --cellar --cache --repository --repo --caskroom --config --env"),
    row("brew list|brew ls|brew info|brew search|brew deps|brew uses|brew config|brew doctor|brew leaves|brew cat|brew desc|brew commands|brew log|brew tap-info|brew missing", READ).options(SYSTEM)
        .when(&[("--github --repology --macports --fink --opensuse --fedora --archlinux --debian --ubuntu --open", RUN)]),
    row("brew services", READ).subs(),
    row("brew services list|brew services info", READ).options(SYSTEM),
    // They bring Homebrew itself up to date first, also where they only list.
    row("brew outdated", INSTALL),
    row("brew install|brew uninstall|brew remove|brew rm|brew upgrade|brew update|brew tap|brew untap|brew link|brew unlink|brew cleanup|brew autoremove|brew reinstall|brew pin|brew unpin|brew bundle|brew services start|brew services stop|brew services restart|brew services run|brew services kill|brew create", SYSTEM_INSTALL),
    row("brew edit|brew sh|brew irb|brew ruby|brew prof|brew test|brew install-bundler-gems", RUN),
    row("port|pkg|pkg_add|pkgin|emerge|xbps-install|eopkg|guix|choco|scoop|winget|mas|softwareupdate|nix-env|nix-channel|nixos-rebuild|home-manager|rpm-ostree|swupd|slackpkg|opkg", SYSTEM_INSTALL),
    row("nix", RUN).subs().other(RUN),
    row("nix-shell|nix-store|nix-instantiate|nix-collect-garbage", RUN),
    row("pkg-config|pkgconf", READ).options("-modversion --modversion --cflags --libs --libs-only-l --libs-only-L --libs-only-other --cflags-only-I --cflags-only-other --static --exists --print-errors --short-errors --silence-errors --list-all --list-package-names --variable= --print-variables --print-provides --print-requires --print-requires-private --atleast-version= --exact-version= --max-version= --debug --validate --define-variable= --uninstalled --path --env-only --define-prefix --dont-define-prefix --with-path= --digraph --solution --simulate --license").when(&[("--log-file", OVERWRITE)]),
    row("easy_install|setup.py", INSTALL),
    row("rimraf|del-cli|del", DESTROY),
];
