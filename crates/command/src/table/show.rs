//! Programs that mostly show something: viewers, queries, and command lines that are named by verbs.

use crate::effect::{
    DELETE, DESTROY, FETCH, INSTALL, OVERWRITE, PUBLISH, READ, REMOTE, RUN, SECRET, SERVICE,
    SIGNAL, SYNC, SYSTEM_INSTALL, UNKNOWN, WRITE,
};
use crate::row::{Row, Takes, row};

use Takes::{Hosts, Names, Paths};

pub(super) const ROWS: &[Row] = &[
    // Version control beside git.
    row("jj", READ).verbs(READ, WRITE, WRITE).other(UNKNOWN).options("R:r:TspG --repository= --at-operation= --at-op= --ignore-working-copy --no-pager --revisions= --revision= --template= --no-graph --reversed --limit= --types --color-words --context= --tool= --stat --name-only --summary --git --include-defaults").valued("-R --repository --at-operation --at-op -r -T -n").when(&[("--config --config-file --config-toml --tool", RUN)]),
    row("jj describe|jj desc|jj new|jj edit|jj commit|jj squash|jj rebase|jj abandon|jj split|jj restore|jj resolve|jj undo|jj redo|jj duplicate|jj absorb|jj parallelize|jj metaedit|jj fix|jj next|jj prev|jj backout|jj revert|jj simplify-parents|jj unsquash|jj move|jj init|jj gerrit|jj sign|jj unsign|jj diffedit|jj bisect", WRITE),
    row("jj op|jj operation|jj git|jj bookmark|jj b|jj config|jj file|jj workspace|jj sparse|jj tag|jj util|jj debug", READ).verbs(READ, WRITE, WRITE).other(UNKNOWN).options("r:T:p --revision= --template= --no-graph --limit= --all-remotes --tracked --include-defaults --user --repo").when(&[("--tool", RUN)]),
    row("jj st|jj interdiff|jj evolog|jj obslog|jj root", READ).options("r:sT:pn:G --revision= --revisions= --summary --stat --git --name-only --template= --patch --limit= --no-graph --from= --to= --types --color-words --context= --reversed"),
    row("hg|mercurial", READ).verbs(READ, WRITE, REMOTE).other(UNKNOWN).options("r:l:pvqTmacdniugfMkb:B:S:I:X:t0wBEU:G --rev= --limit= --patch --verbose --quiet --template= --stat --graph --user= --date= --branch= --follow --all --modified --added --removed --deleted --clean --unknown --ignored --change= --git --text --number --line-number --active --closed --num --id --tags --bookmarks").when(&[("--config -y --debugger", RUN)]),
    row("hg st|hg sum|hg identify|hg id|hg heads|hg tip|hg parents|hg paths|hg branches|hg root|hg manifest|hg showconfig|hg files|hg incoming|hg outgoing|hg grep|hg glog", READ).options("r:l:pvqTmacdniugfab:B: --rev= --limit= --patch --verbose --quiet --template= --stat --graph --all --active --closed --num --id"),
    row("svn", READ).verbs(READ, WRITE, WRITE).other(UNKNOWN).options("r:vquNRl:c:gx: --revision= --verbose --quiet --show-updates --depth= --limit= --change= --xml --incremental --diff --summarize --stop-on-copy --no-ignore --show-item= --search= --username= --password= --non-interactive --no-auth-cache").when(&[("--diff-cmd --config-option --config-dir --editor-cmd --diff3-cmd", RUN)]),
    row("svn st|svn ls|svn praise|svn ann|svn proplist|svn pl|svn propget|svn pg|svnlook|svnversion", READ).options("r:vquNRl:c: --revision= --verbose --quiet --show-updates --depth= --limit= --xml --strict"),
    row("hg strip|hg histedit|hg prune|hg obliterate|p4 obliterate|p4 archive", DESTROY),
    // The files are templates, and a template may run a program.
    row("chezmoi cat|chezmoi diff|chezmoi status|chezmoi verify|chezmoi dump|chezmoi execute-template|chezmoi archive", RUN),
    row("bzr|brz|fossil|pijul|darcs|cvs|p4|got|sapling|yadm|chezmoi|vcsh|etckeeper|stg|git-absorb|git-branchless|gita", READ).verbs(READ, WRITE, WRITE).other(UNKNOWN),
    // Package managers that are named by verbs.
    row("tlmgr|luarocks-admin|opam-admin|eselect|portageq|pkgctl|auracle|checkupdates|pkg_info|apt-file|dlocate|debman|pip-audit|pip-licenses|pipdeptree|npm-check|ncu|npm-check-updates|bundle-audit", READ).things(READ, INSTALL, INSTALL).other(UNKNOWN),
    row("pixi", READ).things(READ, INSTALL, INSTALL).other(UNKNOWN).options("n:p:cefvqrm --name= --prefix= --channel= --envs --export --explicit --full-name --json --canonical --md5 --no-pip --reverse --show-channel-urls --system --all --base --info --override-channels --use-index-cache --show --show-sources --describe"),
    row("conda config", WRITE).begins(&[("--show --show-sources --describe --validate --get", READ)]),
    row("conda env|mamba env|micromamba env", READ).things(READ, INSTALL, INSTALL),
    row("dnf4|dnf5|yum4|nala|pacstall|am|appman|apx|upt|wajig|pikman|topgrade", SYSTEM_INSTALL).things(READ, SYSTEM_INSTALL, SYSTEM_INSTALL).other(SYSTEM_INSTALL),
    row("plenv|phpenv|perlbrew|fvm|kerl|gvm|ghcup|juliaup|proto|vfox|aqua|pkgx|devbox|flox", INSTALL).things(READ, INSTALL, INSTALL).other(UNKNOWN),
    row("nimble|haxelib|shards|spago|raco|quicklisp|swiftpm|alr|cs|coursier|choosenim", INSTALL).things(READ, INSTALL, INSTALL).other(UNKNOWN),
    row("nix search|nix show-config|nix log|nix derivation show|nix hash|nix registry list|nix profile list|nix store ls|nix store cat|nix config show", FETCH).options("rshSc --json --recursive --size --closure-size --human-readable --all-systems --legacy --all --long"),
    // What a flake says is computed, and a lock file is written where there is none.
    row("nix flake show|nix flake metadata|nix flake info|nix flake check|nix path-info|nix why-depends", RUN),
    row("nix flake|nix profile|nix store|nix registry|nix derivation|nix config", RUN).verbs(FETCH, RUN, DELETE).other(RUN),
    // Containers and machines.
    row("apptainer|singularity|enroot|toolbox|distrobox|lxc-ls|lxc-info|pct|qm|pvesh|pvesm|pveam|pvecm|pvenode|vboxmanage|virt-xml|podman-machine|docker-machine|sfdk|podman-compose|boot2docker", UNKNOWN).things(READ, RUN, REMOTE).other(UNKNOWN),
    row("virsh dominfo|virsh domstate|virsh domblklist|virsh domiflist|virsh dumpxml|virsh net-list|virsh net-info|virsh pool-list|virsh vol-list|virsh nodeinfo|virsh capabilities|virsh domstats|virsh hostname|virsh vcpuinfo|virsh domifaddr|virsh snapshot-list", READ).options("r:c: --all --inactive --active --name --uuid --table --title --details --tree"),
    row("vagrant global-status|vagrant box list|vagrant version", READ).options("vm"),
    row("vagrant box", UNKNOWN).things(READ, SYNC, DELETE).other(UNKNOWN),
    row("VBoxManage showvminfo|VBoxManage showmediuminfo|VBoxManage guestproperty get|VBoxManage guestproperty enumerate|vboxmanage showvminfo", READ).options("--machinereadable --details --log="),
    row("VBoxManage guestproperty", UNKNOWN).subs().other(UNKNOWN),
    row("minikube profile|minikube addons", UNKNOWN).subs().other(RUN),
    row("limactl info|colima version|minikube profile list|minikube addons list", READ).options("o@l --output@ --light"),
    // Journals and time.
    row("hledger|ledger|bean-query|hledger-ui", READ).verbs(READ, WRITE, WRITE).other(READ).options("f:b:e:p:DWMQYVBXEIPRUHTNSAlMtsno@O@ijr --file= --begin= --end= --period= --depth= --daily --weekly --monthly --quarterly --yearly --cost --market --value= --real --unmarked --pending --cleared --tree --flat --no-elide --layout= --pivot= --cur= --drop= --historical --cumulative --average --row-total --no-total --sort --sort-amount --invert --percent --output-format@ --empty --auto --strict --dates --descend --forecast? --alias= --match= --limit= --display= --price-db=").when(&[("-o --output-file --output", OVERWRITE), ("--pager --exec --script --python", RUN)]),
    row("hledger add|hledger import|hledger web|hledger-web|ledger xact|ledger python|ledger exec", RUN),
    row("timetrap|watson|todo|todo.sh|topydo|dnote|nb|khal|gcalcli|calcurse|remind|jrnl|bd|pt", UNKNOWN).things(READ, WRITE, DELETE).other(UNKNOWN),
    row("calendar|ddate", READ).options("A:B:F:f:l:t:W:a"),
    row("chronyc-tracking|ntpq|ntpdc|ntpctl", READ).options("vVpni46rst:").when(&[("-c --command", UNKNOWN)]),
    // Looking at files of all kinds.
    // Without a command it prints.
    row("exiv2", READ).takes(Paths).subs().other(READ).options("P:K:g:p:uqvbn: --Print= --grep= --key= --verbose --quiet --unprintable --binary").when(&[("-i -e -d -a -r -T -t -F -M -m -c -l -S -k -f", WRITE)]),
    row("exiv2 rm|exiv2 delete|exiv2 in|exiv2 insert|exiv2 ex|exiv2 extract|exiv2 ad|exiv2 adjust|exiv2 mo|exiv2 modify|exiv2 mv|exiv2 rename|exiv2 fi|exiv2 fixiso|exiv2 fc|exiv2 fixcom", WRITE).takes(Paths),
    // A plugin that is named by its path is loaded.
    row("gst-inspect-1.0", READ).options("aAbphuC --print-all --print-plugin-auto-install-info --plugin --types= --exists --atleast-version= --uri-handlers --no-colors --sort= --color").shaped(&[("*/*", RUN)]),
    row("ogginfo|opusinfo|webpinfo|tiffinfo|sndfile-info|mkvinfo|catimg|viu|timg|lsix|img2txt", READ).takes(Paths).options("-json -stats -mm -checksum").shaped(&[("*://*", UNKNOWN)]),
    row("isutf8|uchardet|chardet|chardetect|dexdump|wasm-objdump|rax2|checksec|llvm-nm|llvm-objdump|llvm-readelf|llvm-size|llvm-strings|llvm-dwarfdump|dwarfdump|pahole|lddtree", READ).takes(Paths).options("ahlqsStxcdfnpuv -cp= -classpath= -public -protected -package -private -c -l -s -v -constants -gc -gcutil -class --all --headers --symbols --syms --section-headers --program-headers --disassemble --demangle --json --quiet").shaped(&[("@* *://*", UNKNOWN)]).when(&[("-o --out-file --output --extract", UNKNOWN)]),
    row("isoinfo|lsinitramfs|lsinitrd|lsinitcpio|lsdiff|filterdiff|grepdiff|dpkg-deb|debdiff|zipnote|zzcat", READ).takes(Paths).options("123AafIcfilmnNpstTuvxzdJRi:hLkMSUWe1C: --list --contents --info --field --show --showformat= --verbose --strip= --include= --exclude= --files=").when(&[("-x -e -b --build --extract --raw-extract --control -X --vextract -R --fsys-tarfile --ctrl-tarfile -w", UNKNOWN)]),
    row("7zz", READ).subs().other(WRITE),
    row("pyflakes|vercmp|chktex|lacheck|checkbashisms|xmlwf|h5ls|ncdump|pyroma", READ).takes(Paths).options("r:hcvx --recursive --quiet --verbose --json").when(&[("-d -m -o -w", UNKNOWN)]),
    row("pastel", READ).subs().other(READ),
    row("choose|huniq|hck|grcat|ccze|logread", READ).takes(Paths).options("f:i:no:xcl:A --one-indexed --exclusive --character-wise --non-greedy --input-field-separator= --output-field-separator=").when(&[("-F", UNKNOWN)]),
    row("aha|ansi2html|ansifilter|rot13|cbonsai|pipes.sh|asciiquarium|cmatrix|nyancat|neofetch|fastfetch|pfetch|macchina|archey|inxi|cpufetch|hyfetch|nitch", READ).options("bFlMSvna --stdout --json --no-color --list-modules --list-logos --list-presets --off").when(&[("-c --config --gen-config --gen-config-force --load-config -f --file -o -i --save", UNKNOWN)]),
    row("screenfetch", READ).options("vnNtEL").when(&[("-a -S -s -o -c -D -A", UNKNOWN)]),
    row("xwininfo|xdpyinfo|xlsclients|xlsfonts|xlsatoms|xev|wayland-info|fc-scan|fc-query|fc-pattern|fc-validate|otfinfo|showfigfonts|figlist|chkfont", READ).options("alsvf:d:n: -root -id= -name= -display= -tree -children -stats -all -int -frame --verbose --format= --sort --brief --index="),
    row("xprop", READ).options("f: -root -id= -name= -display= -frame -len= -notype -font=").when(&[("-set -remove -spy", UNKNOWN)]),
    row("xinput", SERVICE).begins(&[("list --list list-props --list-props --version", READ)]),
    // To look, it loads a module of the kernel.
    row("cpupower", UNKNOWN).subs().other(UNKNOWN),
    row("cpupower frequency-set|cpupower idle-set|cpupower set|cpupower powercap-set", SERVICE),
    row("udisksctl|bluetoothctl|mmcli|wpctl|pactl|pw-cli|playerctl|mpc|cmus-remote|rmpc|boltctl|ddcutil|tlp-stat|cpufreq-info|ideviceinfo|idevice_id|adb|mtp-detect|lsusb.py|wdctl|iwctl|conntrack|ndctl|lsluns|multipathd|hciconfig|hcitool|usbguard|fprintd|mokutil|bootctl|sbctl|kmod|dkms|grubby|mhwd|ubuntu-drivers|lscgroup|cgget|numactl|tuned-adm|irqbalance-ui|kcarddb|ipmitool|semodule|ausyscall|keyctl|selinuxenabled|userdbctl|homectl|portablectl|coredumpctl|systemd-id128|busctl|gdbus|qdbus|dbus-monitor|dconf|gsettings|xfconf-query|xdg-settings|xdg-mime|xdg-user-dir|handlr", SERVICE).things(READ, SERVICE, SERVICE).other(SERVICE),
    row("getcap|getsebool|secon|seinfo|sesearch|usb-devices|kreadconfig5|kreadconfig6", READ).options("arvnlA --all --file= --group= --key= --allow --source= --target= --class= --perm= -a -A -s= -t= -c= -p=").takes(Names),
    row("upower", READ).options("edmvi: --enumerate --dump --monitor --monitor-detail --show-info= --wakeups"),
    row("keyctl print|keyctl read|keyctl pipe", SECRET),
    row("gsettings get|gsettings list-schemas|gsettings list-keys|gsettings list-recursively|gsettings list-children|gsettings range|gsettings describe|gsettings writable|dconf read|dconf list|dconf dump|xdg-mime query|xdg-settings get|xdg-settings check|busctl tree|busctl introspect|busctl status|busctl list|busctl get-property|loginctl show-user", READ).options("a --user --system --all --no-pager --acquired --activatable --list --hidden --attributes= --json="),
    row("adb devices|adb logcat|adb version|adb get-state|adb get-serialno|adb features|adb bugreport-list", READ).options("ldt:s:v:b: --buffer= --format= --pid="),
    row("adb shell", RUN),
    // The network.
    row("smbtree|nmblookup|smbstatus", FETCH).takes(Hosts).options("abdDnNSAMRrTpvU:B:u:L --shares --processes --locks --verbose --brief --numeric --fast --all-hosts").when(&[("-l --log-basename -s --configfile --option", UNKNOWN)]),
    row("showmount|nfsstat|ldapwhoami|ssh-audit|speedtest|speedtest-cli|geoiplookup|mmdblookup|dict|wn|ansiweather|httpstat|avahi-browse|avahi-resolve|mdns-scan|arp-scan|dnstracer", FETCH).takes(Hosts).options("aeplsnchvrtbf:i: --json --simple --bytes --secure --list --server= --no-color --all --terminate --resolve --localnet -I=").when(&[("--share --proxy -o --xml --csv", UNKNOWN)]),
    row("rpcinfo", FETCH).takes(Hosts).options("mpslta:n:T:u:b:").when(&[("-d", SERVICE)]),
    row("snmpwalk|snmpget|snmpgetnext|snmpbulkwalk|snmpbulkget|snmptable", FETCH).takes(Hosts).options("v:c:O:l:u:a:A:x:X:r:t:m:M:I:C:n:"),
    row("ldapsearch", FETCH).takes(Takes::Text).options("xLb:s:H:D:W h:p:Z -LLL -LL"),
    // Clusters.
    row("sinfo|squeue|sacct|sstat|sprio|sshare", FETCH).options("aAbBCDeEfFghHiIjklLmMnNoOpPqrRsStTuUvwxXyzj:u:p:S:E:o:n:t:O:w:M: --all --jobs= --user= --users= --partition= --states= --state= --starttime= --endtime= --format= --Format= --long --noheader --summarize --nodes= --Node --parsable --parsable2 --units= --json? --yaml? --account= --accounts= --allocations --brief --start --steps --array --sort= --iterate= --name= --cluster= --clusters= --helpformat --noconvert --completion --batch-script --env-vars --me --federation --hide --local --dead --responding --reservation"),
    row("scontrol", SERVICE).things(READ, SERVICE, SERVICE).other(SERVICE),
    row("scancel|qdel|bkill|condor_rm", SIGNAL),
    row("dcgmi|rocminfo|gpustat|nvitop|amd-smi|xpu-smi", READ).options("cupFPoi:a --json --show-user --show-pid --show-cmd --no-color --interval= --query= --once --colorful --readonly").shaped(&[("set config policy reset", UNKNOWN)]),
    // Databases.
    row("pg_config|pg_waldump|pg_test_timing|mysqlshow|mysqlbinlog|mariadb-binlog|mariadb-show|sqlite3_analyzer|sqldiff|mongostat|mongotop", READ).takes(Paths).options("h:p:P:u:U:d:D:n:t:s:e:f:bckiqvwxz --host= --port= --user= --username= --dbname= --database= --databases --table= --tables --keys --status --count --verbose --bindir --docdir --includedir --libdir --pkglibdir --sharedir --sysconfdir --configure --cc --cflags --ldflags --libs --start-position= --stop-position= --start-datetime= --stop-datetime= --base64-output= --hexdump --short-form --read-from-remote-server --all --progress --schema --summary").when(&[("-r --result-file --tables-out", OVERWRITE)]),
    row("rabbitmq-diagnostics|rabbitmq-streams", UNKNOWN).things(FETCH, REMOTE, REMOTE).other(UNKNOWN),
    row("rabbitmqctl eval", RUN),
    // Others that only print.
    row("peco", RUN).begins(&[("--version --help --man --bash --zsh --fish", READ)]),
    row("lorem|exrex|pwgen|pwqgen|xkcdpass|apg|errno|termgraph|datamash|unicode|uniname", READ).options("aBcnsyAv0r:N:lisM:m:n:t:x: --no-numerals --capitalize --numerals --ambiguous --secure --symbols --one --list --search --sum --mean --header-in --group= --sort --full"),
    row("lpstat|lpq|lpinfo|cups-config|cupstestppd", READ).options("adeEhHlopPrRsStuUvWc:p:vm -h= -P= -o= -U= --libs --cflags --version --datadir --serverbin --serverroot --api-version --device-id= --language= --make-and-model= --product= --timeout= --include-schemes= --exclude-schemes="),
    row("starship|oh-my-posh|zoxide|atuin|mcfly|navi|pet", RUN).begins(&[("explain timings print-config stats", READ)]),
    row("bundletool|apkanalyzer|aapt|aapt2", UNKNOWN).things(READ, WRITE, DELETE).other(UNKNOWN),
    row("opencode|claude|codex|aider|gemini|goose|zeroclaw|openclaw|copilot-cli|cursor-agent|llm|wacli|sgpt|mods|tgpt|fabric|crush|amp", RUN).things(READ, RUN, RUN).other(RUN),
    row("pio|platformio|arduino-cli|idf.py|west|esptool|espefuse|picotool|minipro|avrdude|stm32flash|dfu-util|probe-rs|ufbt|fbt|circup|mpremote", UNKNOWN).things(READ, RUN, RUN).other(UNKNOWN),
    row("auth0 domains", FETCH).things(FETCH, PUBLISH, REMOTE).other(UNKNOWN).valued("-t --tenant").flags("--debug --no-color --no-input"),
    row("auth0 domains verify", PUBLISH),
    row("auth0", FETCH).things(FETCH, PUBLISH, REMOTE).other(UNKNOWN).valued("-t --tenant").flags("--debug --no-color --no-input"),
    row("linear|okta|algolia|contentful|sanity|shopify|xata|upstash|convex|workos|eas", FETCH).things(FETCH, PUBLISH, REMOTE).other(UNKNOWN),
    row("kubeconform|kubeval|kube-score|kube-linter|pluto|tfsec|terrascan", READ).takes(Paths).subs().other(READ).options("f:o@n:dvs --format@ --output@ --quiet --no-color --verbose --namespace= --strict --summary --ignore-missing-schemas --kubernetes-version= -summary -strict -ignore-missing-schemas").when(&[("--out-file --output-file --save --upload -o --out", UNKNOWN)]),
    row("lsvirtualenv|module", READ).verbs(READ, SYNC, DELETE).other(UNKNOWN),
    row("module avail|module list|module spider|module show|module display|module help|module whatis|module keyword", READ).options("tlT --terse --long"),
];
