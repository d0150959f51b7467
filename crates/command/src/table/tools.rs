//! Command lines that are named by a verb, one row for each kind of thing they work on. What a verb is
//! worth here, [`crate::reader::verbs`] says.

use crate::effect::{
    BUILD, DELETE, DEVICE, FETCH, LISTEN, OVERWRITE, PUBLISH, READ, REMOTE, RUN, SECRET, SEND,
    SERVICE, SYNC, SYSTEM_INSTALL, UNKNOWN, WRITE,
};
use crate::row::{Reader, Row, Takes, row};

pub(super) const ROWS: &[Row] = &[
    // Notes, lists, calendars, collections of one's own.
    row("abrt-cli|beet|biff|calibredb|clido|cointop|ego|filen|flexget|ghq|kioclient|khard|ludusavi|maestral|mailsy|moro|mu|nextclade|notmuch|obsidian|packwiz|pomo|qc|r2e|shiori|skate|skills|tb|timew|tmsu|tod|todoist|zk|newsboat|buku|stormlock|hostess|mr|myrepos|rip|espanso|kscreen-console|komac|maza|betty|wlc|vf|bob|exenv|gup|argospm|antibody|omf|omz|bash-it|fisher|zinit", UNKNOWN).things(READ, WRITE, DELETE).other(UNKNOWN),
    // What a project is made of.
    row("accelerate|avo|bluebuild|boxxy|bpkg|bk|cordova|cradle|dagger|devcontainer|devenv|devpod|dvc|drupal|ern|fin|foreman|ionic|lando|laravel|meteor|mkosi|molecule|nextflow|nh|noseyparker|pecl|phive|pickle|pie|pyats|robo|safe|sq|sui|symfony|tmt|tmuxinator|truffle|trunk|typst|vsce|wapm|snapcraft|charmcraft|gcpdiag|ohdear|krunvm|kiterunner|rabbitmq-queues|ooniprobe|bundlewrap|kool|resticprofile|blackfire|prowler|charm", UNKNOWN).things(READ, RUN, DELETE).other(UNKNOWN),
    // Packages of other systems.
    row("aur|extrepo|deb-get|eim|informant|lbu|owut|paci|pamac|pkcon|pkgz|pkgstats|prt-get|sport|synopkg|vkpurge|shiny-mirrors|archlinux-java|pro|ubuntu-advantage|ua|vso|updatectl", UNKNOWN).things(READ, SYSTEM_INSTALL, SYSTEM_INSTALL).other(UNKNOWN),
    // The machine and what is on its screen.
    row("birdc|birdcl|bcachefs|fwupdtool|makoctl|mozillavpn|niri|hyprctl|openvpn3|piactl|pihole|plesk|pueue|pveum|snapper|ubus|watchman|wezterm|herdr|zrok|flarectl|protonvpn-cli|keyd|qtile|kanshictl|swww", UNKNOWN).things(READ, SERVICE, SERVICE).other(UNKNOWN),
    // Services of others.
    row("ghost|gitlab|hut|loft|now|particle|twurl|light-arionum-cli|hsd-cli|hsw-cli|bitcoin-cli|electrum|octez-client|elasticsearch-users|elasticsearch-keystore|elasticsearch-node|fluxctl|mongocli|atlas-cli|mlflow|dbt-cloud|rill|temporal|nomad-pack", UNKNOWN).things(FETCH, PUBLISH, REMOTE).other(UNKNOWN),
    row("bitcoin-cli get*|bitcoin-cli list*|electrum list*|electrum get*", FETCH),
    row("ghq get|ghq clone|ghq create", SYNC),
    row("dua", READ).takes(Takes::Names).options("cdlpAxf: --apparent-size --count-hard-links --format= --stay-on-filesystem --ignore-dirs= --threads= --depth=").shaped(&[("interactive i completions config", UNKNOWN)]),
    row("broot|br|gotelemetry view", RUN),
    row("gotelemetry", UNKNOWN).subs(),
    row("fzf|sk", READ).reader(Reader::Fzf).options("xXe+iqmd:n:1s0q:f: --extended --no-extended --exact --no-exact --ignore-case --no-ignore-case --smart-case --scheme= --literal --no-literal --nth= --with-nth= --accept-nth= --delimiter= --no-sort --sort? --track --no-track --tail= --disabled --phony --tiebreak= --multi? --no-multi --mouse --no-mouse --bind= --cycle --no-cycle --wrap? --no-wrap --wrap-sign= --keep-right --scroll-off= --no-hscroll --hscroll --hscroll-off= --filepath-word --jump-labels= --gap? --no-gap --gap-line? --no-multi-line --multi-line --highlight-line --no-highlight-line --height= --min-height= --tmux? --layout= --reverse --no-reverse --border? --no-border --border-label= --border-label-pos= --margin= --padding= --info= --no-info --info-command-show --separator= --no-separator --scrollbar? --no-scrollbar --prompt= --pointer= --marker= --marker-multi-line= --ellipsis= --header= --header-lines= --header-first --no-header --header-border? --header-label= --header-label-pos= --header-lines-border? --footer= --footer-border? --footer-label= --ansi --no-ansi --tabstop= --color= --no-color --no-bold --bold --black --no-black --style= --list-border? --list-label= --list-label-pos= --no-list-border --input-border? --input-label= --input-label-pos= --no-input --no-input-border --ghost= --preview= --preview-window= --preview-border? --preview-label= --preview-label-pos= --no-preview --query= --select-1 --exit-0 --filter= --print-query --no-print-query --expect= --no-expect --read0 --no-read0 --print0 --no-print0 --sync --no-sync --async --no-select-1 --no-exit-0 --no-clear --walker= --walker-root= --walker-skip= --unicode --no-unicode --ambidouble --no-tty-default --tac --no-tac --algo= --threads= --freeze-left= --freeze-right= --raw --no-raw --id-nth= --version --help --man --bash --zsh --fish").when(&[("--listen --listen-unsafe --history --with-shell --become --print-to --profile-cpu --profile-mem --profile-block --profile-mutex", UNKNOWN)]),
    row("borg compact|netlify env:clone|heroku clients:update|jenkins-cli delete-job|jenkins-cli delete-node|jenkins-cli delete-builds", REMOTE),
    // They print keys, run what the project has, or take away what others use.
    row("doctl databases user list|doctl databases user get|doctl databases user ls|doctl databases connection", SECRET),
    row("doctl databases|doctl databases user", FETCH).things(FETCH, PUBLISH, REMOTE).other(UNKNOWN),
    row("mc alias|mc config|heroku config:get|heroku config|netlify env:list|netlify env:get", SECRET),
    row("serverless print|serverless info|symfony console|symfony run|symfony composer", RUN),
    row("copilot|mc", UNKNOWN).things(FETCH, PUBLISH, REMOTE).other(UNKNOWN),
    row("bup", UNKNOWN).things(READ, WRITE, DELETE).other(UNKNOWN).valued("-d --bup-dir"),
    // Programs that people have pages about and that do more than look.
    row("gst-launch-1.0|nxc|bore|lambo|luanti|qgis|chromium|footclient|jhipster|lmms|scrcpy|steam|streamlink|RsaCtfTool.py|fs_cli|asciinema|audacious|feh|foot|hardhat|jbang|mitmproxy|ventoy|waydroid", RUN),
    row("nping|rpcmap.py|ffuf|nuclei|rustscan|kismet|psexec.py|smbclient.py|getTGT.py", LISTEN),
    row("wfuzz|x8|amass", SEND).takes(Takes::Hosts),
    row("wait4x", FETCH).subs().other(FETCH).takes(Takes::Hosts).options("t:i:q --timeout= --interval= --quiet --no-color --invert-check"),
    row("wait4x exec", RUN),
    row("httpx", SEND).takes(Takes::Hosts),
    row("dnsrecon|trafilatura", FETCH).takes(Takes::Hosts).options("d:n:t:r:afvu: --domain= --type= --name_server= --range= --URL= --json --xml --formatting --links --no-comments --no-tables --precision --recall").when(&[("-c -j -x -o --csv --json-file --xml-file --output-dir --db -D --dictionary -i --input-file -b --backup-dir", UNKNOWN)]),
    row("wget2|eget|freeze|flameshot", SYNC),
    row("oauth2c", SECRET),
    row("b4", SYNC).subs().other(SYNC),
    row("trace-cmd", SERVICE).subs().other(SERVICE),
    row("trace-cmd list|trace-cmd stat|trace-cmd report|trace-cmd options|trace-cmd show", READ).takes(Takes::Paths).options("tesfpEF:i: --stat --events"),
    row("hugo", BUILD).subs().other(BUILD),
    row("hugo version|hugo help", READ),
    row("tpm2", DEVICE).subs().other(DEVICE),
    row("tpm2 pcrread|tpm2 getcap|tpm2 readpublic|tpm2 nvreadpublic|tpm2 eventlog|tpm2 print|tpm2 rc_decode|tpm2 checkquote", READ).takes(Takes::Paths).options("c:t: --object-context= --type=").when(&[("-o --output -f --format -n -q", UNKNOWN)]),
    row("tomb", DEVICE).subs().other(DEVICE),
    row("tomb list", READ),
    row("pg_combinebackup|pg_receivewal|oxipng|pngquant|grub-mkrescue|monolith", WRITE).takes(Takes::Paths),
    row("rawtopgm", READ).takes(Takes::Paths).options("-bpp= -littleendian -maxval= -headerskip= -rowskip= -tb -topbottom -bt -bottomfirst"),
    row("gosec", READ).takes(Takes::Paths).options("-fmt= -include= -exclude= -exclude-dir= -severity= -confidence= -nosec -quiet -sort -tests -no-fail -verbose= -color -tags=").single_dash().when(&[("-out", OVERWRITE), ("-conf -stdout", UNKNOWN)]),
    row("php-cs-fixer", RUN).subs().other(RUN),
    row("neo4j-admin", SERVICE).things(READ, SERVICE, SERVICE).other(SERVICE),
    row("authconfig|haveged|ipcrm|edquota|systemd-firstboot|create_ap", SERVICE),
    row("grex", READ).options("dDsSwWriegxcv --digits --non-digits --spaces --non-spaces --words --non-words --repetitions --ignore-case --capture-groups --verbose --colorize --no-anchors --escape").when(&[("-f --file", UNKNOWN)]),
    row("readpe", READ).takes(Takes::Paths).options("AHSdief:Vh: --all --all-headers --all-sections --header= --dirs --imports --exports --format@"),
    row("clamscan|clamdscan|chkrootkit", READ).takes(Takes::Paths).options("rvioaqndlx --recursive? --verbose --infected --bell --no-summary --quiet --stdout --file-list= --exclude= --exclude-dir= --include= --max-filesize= --max-scansize= --multiscan --fdpass --stream").when(&[("--remove --move --copy --log -l --tempdir --leave-temps -d --database -p -r --official-db-only", UNKNOWN)]),
];
