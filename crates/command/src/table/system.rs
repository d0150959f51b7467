//! Processes, services, users, devices, the network and secrets of the machine.

use crate::effect::{
    DELETE, DESTROY, DEVICE, FETCH, LISTEN, OVERWRITE, PRIVILEGE, READ, RUN, SECRET, SEND, SERVICE,
    SYNC, UNKNOWN, UPLOAD, WRITE,
};
use crate::row::{Reader, Row, Takes, row};

pub(super) const ROWS: &[Row] = &[
    row("ps", READ).options("AC:FG:HLMNO:PTU:Vacdefg:jlmo:p:q:s:t:u:wy --Group= --User= --cols= --columns= --context --cumulative --deselect --forest --format= --group= --headers --info= --lines= --no-headers --pid= --ppid= --quick-pid= --rows= --sid= --sort= --tty= --user= --width= hxwrSnkvk:Z --no-heading --no-headings -axo= -eo= -ao= -Ao= -eLo="),
    row("pgrep", READ).options("AF:G:LO:P:U:Vacd:efg:hilnoq:r:s:t:u:vwx --cgroup= --count --delimiter= --echo --euid= --exact --full --group= --ignore-ancestors --ignore-case --inverse --lightweight --list-full --list-name --logpidfile --newest --ns= --nslist= --older= --oldest --parent= --pgroup= --pidfile= --queue= --runstates= --session= --signal= --terminal= --uid= -fl -fa"),
    row("pidof", READ).options("cd:no:qsxz"),
    row("pstree", READ).options("ACGHNSTUZacghlnpstuH: --arguments --ascii --compact-not --color= --vt100 --highlight-all --show-parents --show-pids --show-pgids --numeric-sort --ns-sort= --ns-changes --hide-threads --thread-names --uid-changes --unicode --long --security-context"),
    row("procs", READ).options("aotWi:w --and --or --sorta= --sortd= --insert= --only= --color= --theme= --pager= --tree --watch --no-header --list --thread --nor --nand").when(&[("--pager --load-config --gen-config --use-config --gen-completion", RUN)]),
    row("free", READ).options("bc:ghklms:tvwL --bytes --kilo --mega --giga --tera --peta --kibi --mebi --gibi --tebi --pebi --committed --count= --human --lohi --line --seconds= --si --total --wide"),
    row("vmstat", READ).options("DS:Vadfhmnp:stwy --active --disk --disk-sum --forks --no-first --one-header --partition= --slabs --stats --timestamp --unit= --wide"),
    row("iostat|mpstat|pidstat|cifsiostat|tapestat|sar", READ).options("cdhkmNstVxyzp;T;AuP:I:nbBqrRSvwWHLfFg:jo:D --human --pretty --compact --dec= -o=JSON").when(&[("-o -e", UNKNOWN)]),
    row("lscpu", READ).options("BC;Jabce;p;s:xy --all --bytes --caches? --extended? --hex --json --offline --online --output-all --parse? --physical --sysroot="),
    row("lsblk", READ).options("ADE:I:JMOPST;Vabde:fhilmno:prstw:x:yz --all --ascii --bytes --dedup= --discard --exclude= --fs --include= --inverse --json --list --merge --nodeps --noempty --noheadings --output-all --output= --pairs --paths --perms --raw= --scsi --sort= --sysroot= --topology --tree? --width= --zoned y --shell N Q: --nvme --virtio --filter= --highlight= --ct= --merge --raw --list-columns --properties-by="),
    row("lsusb", READ).options("vtd:s:D: --verbose --tree"),
    row("lspci", READ).options("vnkbDdgmMtqQxs:d:i:p:A:O:PF:H: -vv -vvv -xxx -nn -mm -nnk -PP").when(&[("-G -Q", UNKNOWN)]),
    row("lsmod|lsscsi|lshw|lsns|lsmem", READ).options("JPS:Vabhno:rs: --all --bytes --json --noheadings --output-all --output= --pairs --raw --split= --summary? --sysroot= cdghiklLnpPstuvwxVsC:c:T: --class= --short --long --businfo --numeric --quiet --sanitize --disable= --enable= -class= -short -businfo -C= -c= -sanitize -json -html -xml -numeric -quiet --task= --type= --list --raw --tree --size --generic --device --transport --protection").when(&[("-dump -X", UNKNOWN)]),
    row("lslocks", READ).options("JVbhino:p:ru --bytes --json --noheadings --noinaccessible --notruncate --output-all --output= --pid= --raw"),
    row("lsipc", READ).options("JPVbceghi:lmno:qrsty --bytes --creator --export --global --id= --json --list --newline --noheadings --notruncate --numeric-perms --output= --queues --raw --semaphores --shell --shmems --time --time-format="),
    row("findmnt", READ).options("ACDF:JM:N:O:PRS:T:UVabcd:efhiklmno:p;rst:uvw:xy --all --ascii --bytes --canonicalize --deleted --df --direction= --evaluate --first-only --fstab --invert --json --kernel --list= --mountpoint= --mtab --nocanonicalize --nofsroot --noheadings --notruncate --options= --output-all --output= --pairs --poll? --pseudo --raw --real --shadow --shadowed --shell --source= --submounts --tab-file= --target= --task= --timeout= --tree --types= --uniq --verbose --verify --vfs-all"),
    row("mountpoint", READ).options("Vdhqx --devno --fs-devno --nofollow --quiet"),
    row("ipcs", READ).options("Vabchi:lmpqstu --all --bytes --creator --human --id= --limits --pid --queues --semaphores --shmems --summary --time"),
    row("pmap", READ).options("A:C:XcdnpqxN: --device --extended --quiet --range= --read-rc --show-path -XX").when(&[("-n -N --create-rc --create-rc-to", WRITE)]),
    row("pwdx|acpi|lsb_release|smem|cpuid|sw_vers|vm_stat", READ).options("abcdfhikprstuvwBCHKUV1 --all --codename --description --id --release --short --battery --ac-adapter --thermal --cooling --details --everything --fahrenheit --kelvin -productName -productVersion -buildVersion --one-cpu --raw --percent --totals --userfilter= --sort= --columns="),
    row("system_profiler|ioreg", READ).options("lrn:c:w:d:bfp:tx -listDataTypes -detailLevel= -json -xml -timeout="),
    row("slabtop", READ).options("Vd:hos: --delay= --once --sort="),
    row("modinfo", READ).options("ad lpnF:0k:b: --author --description --license --parameters --filename --field= --null --set-version= --basedir="),
    row("sensors", READ).options("Auj:fc: --no-adapter --fahrenheit --bus-list --allow-no-sensors -A -u -j").when(&[("-s --set", SERVICE)]),
    row("blkid", READ).options("DH:L:O:S:U:Vdhikln:o:ps:t:u: --hint= --info --label= --list-filesystems --list-one --match-tag= --match-token= --match-types= --no-encoding --no-part-details --offset= --output= --probe --size= --usages= --uuid=").when(&[("-g --garbage-collect -w -c --cache-file", WRITE)]),
    row("getent", READ).options("is: --service= --no-idn").shaped(&[("shadow gshadow", SECRET), ("hosts ahosts ahostsv4 ahostsv6", FETCH)]),
    row("nvidia-smi|rocm-smi|clinfo|vulkaninfo|glxinfo|vainfo|eglinfo|vdpauinfo", READ).only("-L -l -q -d -i -x -a -B -h --query-gpu --query-compute-apps --format --query --list-gpus --summary --json --showuse --showmeminfo --showtemp -j --raw --display --device").valued("-l -d -i --display --device --showmeminfo --query-gpu --query-compute-apps --format"),
    row("glances", READ).options("t:p:u:B:f:1234567q --time= --tree --disable-bg --percpu --stdout= --stdout-csv= --stdout-json= --fahrenheit --hide-kernel-threads --byte --diskio-iops --stop-after=").when(&[("-s -w -c -C --config -P --export -B --server --webserver --client --browser --enable-plugin --disable-plugin --plugins --username --password", UNKNOWN)]),
    row("btop|htop|iotop|atop|nvtop|btm|bpytop|nmon|iftop|nethogs|bandwhich|s-tui|gotop", READ).options("bCd:D:F:hHMns:t:u:p:oPakqlv:12 --no-color --no-mouse --no-unicode --delay= --user= --pid= --tree --filter= --highlight-changes --sort-key= --batch --iter= --only --processes --accumulated --kilobytes --time --quiet --utf-force --preset= --low-color --tty_on --tty_off --readonly --basic --rate= --max-iterations=").when(&[("-o -w --output --export --html --csv -r --record --webserver -s --server", UNKNOWN), ("--calibrate --auto-tune", SERVICE)]),
    row("top", READ).only("-b -n -d -p -u -U -o -O -w -c -H -i -s -S -l -stats -1 -e -E").valued("-n -d -p -u -U -o -w -l -s -e -E"),
    row("lsof", READ).options("abCc:d:D:e:E;f;F;g;HhiI:k:K;lLm:MnNo;OPp:QrRs;S;tT;u:UvVwWxXzZ;i; +D= +d= +L= +c= +f; +r; +w +E").when(&[("-D +m -A", UNKNOWN)]),
    row("fuser", READ).reader(Reader::Kill),
    row("ss", READ).options("046A:HMOSTVZabdef:hilmnoprstuwxz --all --bpf --cgroup --context --contexts --dccp --extended --family= --inet-sockopt --info --ipv4 --ipv6 --listening --memory --mptcp --net= --no-header --numeric --oneline --options --packet --processes --query= --raw --resolve --sctp --socket= --summary --tcp --threads --tipc= --tipcinfo --tos --udp --unix --vsock --xdp N:").when(&[("-K --kill", SERVICE), ("-D --diag -F --filter", UNKNOWN)]),
    row("netstat", READ).options("ACFMWacegilnoprsv --all --continuous --extend --groups --interfaces --listening --masquerade --numeric --numeric-hosts --numeric-ports --numeric-users --program --protocol= --route --statistics --timers --verbose --wide ubtxdwS:p:f:I:LRmnTN --tcp --udp --raw --unix --inet --ax25 --numeric-hosts"),
    row("ipcalc|sipcalc|ipcalc-ng|subnetcalc|cidr|prips", READ).options("bcghinmopsarkS46ud:f:e:w:x:A:H:s: --nocolor --nobinary --class --html --split --network --netmask --broadcast --prefix --hostname --check --geoinfo --info --json --no-decorate --all-info --random-private= --addrspace --minaddr --maxaddr --addresses --v4split= --v6split= --reverse --cidr="),
    row("whois|jwhois|whob|rdap", FETCH).takes(Takes::Hosts).options("BGHIKLMRT:abcdg:h:i:lmp:q:rs:t:v:x --host= --no-recursion --port= --verbose"),
    row("host", FETCH).takes(Takes::Hosts).options("46ACN:R:T:U:VW:ac:dlm:p:rst:vw"),
    row("nslookup", FETCH).takes(Takes::Hosts).options("-type= -query= -debug -port= -timeout= -class= -recurse -norecurse -retry= -d2 -nodebug -vc -querytype= -qt= -silent"),
    row("dig|kdig|dog|doggo|q", FETCH).takes(Takes::Hosts).options("46b:c:k:mp:q:rt:uvx:S:y:UTHJ1n:s --query= --type= --nameserver= --class= --udp --tcp --tls --https --short --json --color= --seconds --time --reverse --search --ndots=").when(&[("-f", UNKNOWN)]),
    row("drill", FETCH).takes(Takes::Hosts).only("-t -D -S -T -V -Q -4 -6 -a -x -u -c -p -b -o -v -I").valued("-V -p -b -o -c -I").when(&[("-w -f -i -k", UNKNOWN)]),
    row("arping", FETCH).takes(Takes::Hosts).options("bc:DfI:i:qs:w:W:C:d0rRvp").when(&[("-A -U -P -S -s", SERVICE)]),
    row("ping|ping6|fping|gping|prettyping|tcping", FETCH).takes(Takes::Hosts).options("46ABCDFLOQ:RS:T:UV:W:abc:dehi:l:I:M:N:m:np:qrs:t:vw:gC:o:G:x:H:P:EJ --count= --interval= --alive --unreach --generate --timeout= --retry= --loop --stats --elapsed --nolegend --last= --columns= --cmd").when(&[("-f --file --cmd -X", UNKNOWN)]),
    row("traceroute|traceroute6|tracepath|tcptraceroute|lft|trip", FETCH).takes(Takes::Hosts).options("ADFIM:N:O:P:TUVdef:g:i:l:m:np:q:rs:t:w:z: --as-path-lookups --back= --dccp --debug --dont-fragment --extensions --first= --flowlabel= --fwmark= --gateway= --icmp --interface= --max-hops= --module= --mtu --options= --port= --protocol= --queries= --sendwait= --sim-queries= --source= --sport= --tcp --tos= --udp --wait= 46bz:al:o:vx").when(&[("-M --module -g --gateway", UNKNOWN)]),
    row("mtr", FETCH).takes(Takes::Hosts).options("46B:CI:L:M:P:Q:STU:Z:a:bc:ef:ghi:jlm:no:prs:tuvwxy:z --address= --aslookup --bitpattern= --csv --curses --displaymode= --first-ttl= --gracetime= --gtk --interface= --interval= --ipinfo= --json --localport= --mark= --max-ttl= --max-unknown= --mpls --no-dns --order= --port= --psize= --raw --report --report-cycles= --report-wide --sctp --show-ips --split --tcp --timeout= --tos= --udp --xml 4 6 G:").when(&[("-F --filename", UNKNOWN)]),
    row("ifstat|nload|vnstat|iwlist|iwgetid|iwinfo", READ).only("-a -b -i -n -t -T -v -h -l -S -m -q -5 -y --json --oneline --days --hours --months --top --years --live --short --query --style -r -c -f -p").valued("-i --style --json --oneline"),
    row("nmap|masscan|zmap|hping3|tcpdump|tshark|wireshark|ettercap|aircrack-ng|sqlmap|nikto|hydra|john|hashcat|metasploit|msfconsole|responder|bettercap", LISTEN),
    row("ip", READ).subs().single_dash().valued("-n -ne -net -netn -netns -family -f").flags("-4 -6 -0 -o -oneline -br -brief -c -color -d -details -s -stats -ss -statistics -j -json -p -pretty -r -resolve -h -human -human-readable -a -all -t -ts -iec").when(&[("-b -ba -bat -batc -batch --batch --netns", RUN)]),
    row("ip *", READ).subs().other(SERVICE),
    row("ip * show|ip * list|ip * ls|ip * lst|ip * l|ip * g|ip * h|ip * s|ip * sh|ip * get|ip * identify|ip * pids|ip * list-id|ip * help", READ),
    // Of the commands about links, `set` is the first that an `s` may mean.
    row("ip link s|ip lin s|ip li s|ip l s", SERVICE),
    row("ip monitor", READ),
    row("ip netns", READ).subs().other(SERVICE),
    row("ip netns list|ip netns identify|ip netns pids|ip netns list-id", READ),
    row("ip netns exec", RUN),
    row("ifconfig|iwconfig", READ).options("asLmvl").beyond(1, SERVICE, "").shaped(&[("-arp -promisc -allmulti -*", SERVICE)]),
    row("arp|route", READ).only("-a -n -e -v -ee").beyond(0, SERVICE, ""),
    row("iptables|ip6tables|nft|ufw|firewall-cmd|ebtables|ipset|pfctl|tc|brctl|bridge|ethtool|netplan|resolvconf|dhclient|ifup|ifdown|wpa_supplicant|iw|rfkill|modprobe|insmod|rmmod|depmod|udevadm|hwclock|ntpdate|chronyc|setenforce|semanage|setsebool|restorecon|auditctl|apparmor_parser|aa-enforce|quotaon|swapctl|systemsetup|csrutil|nvram|kextload|at|batch|atrm|anacron|supervisorctl|monit|rc-service|rc-update|chkconfig|update-rc.d|initctl|sv|runit|s6-svc|bless", SERVICE)
        .subs()
        .other(SERVICE),
    row("iw dev|iw phy|iw dev *|iw phy *|iw dev * station|iw dev * survey|iw dev * get|iw dev * scan", SERVICE).subs().other(SERVICE),
    row("iw dev * info|iw dev * link|iw dev * station dump|iw dev * station get|iw dev * survey dump|iw dev * get power_save|iw dev * scan dump|iw phy * info|iw phy * channels", READ),
    row("networksetup", SERVICE).begins(&[("-list* -get* -is* -show* -print* -help -version", READ)]),
    row("scutil", SERVICE).begins(&[("--get --dns --proxy --nwi -r --nc", READ)]),
    row("spctl", SERVICE).begins(&[("--status --assess -a --disable-status -v --list", READ)]),
    row("pmset", SERVICE).begins(&[("-g", READ)]),
    row("dscl", SERVICE).shaped(&[("-create -delete -append -merge -change -passwd -mt", SERVICE)]).begins(&[("read list search diff", READ)]),
    row("launchctl|defaults|tmutil", SERVICE).verbs(READ, SERVICE, SERVICE).other(SERVICE),
    row("nmcli|networkctl|timedatectl|hostnamectl|localectl|loginctl|resolvectl", READ).subs().other(SERVICE).flags("--no-pager -l --full -a --all --no-legend --no-ask-password --json -t -p -g -f -c").valued("-H --host -M --machine").when(&[("-H --host -M --machine", UNKNOWN)]),
    row("sysctl", READ).only("-a -A -X -n -N -e -b -r --all --values --names --ignore --binary --pattern").valued("-r --pattern").when(&[("-w --write -p -f --load --system", SERVICE)]).shaped(&[("*=*", SERVICE)]),
    row("postconf", READ).options("adfhHlmnoPSTvxpMFC:c:t: -C= -c= -d -n -a -l -m -A -q").shaped(&[("*=*", SERVICE)]).when(&[("-e -X -#", SERVICE)]),
    row("ldconfig", SERVICE).when(&[("-p --print-cache", READ), ("--print-cache", READ)]),
    row("stty", READ).subs().other(SERVICE).flags("-a -g --all --save").valued("-F --file"),
    row("stty size|stty speed", READ),
    row("nmcli device|nmcli connection|nmcli general", SERVICE).subs().other(SERVICE),
    row("nmcli device status|nmcli device show|nmcli connection show|nmcli general status|ufw status|timedatectl status|timedatectl show|hostnamectl status|localectl status|loginctl list-sessions|networkctl status|networkctl list|supervisorctl status|chronyc tracking|chronyc sources|resolvectl status|resolvectl query|resolvectl statistics|loginctl show-session|loginctl list-users|loginctl session-status|timedatectl timesync-status|timedatectl list-timezones|localectl list-locales|nft list", READ).options("t: --no-pager --fields= -f= -t -g= -p --all --full -l -a --json= --no-legend --property= --value --adjust-system-clock --lines= -n= --output@ -o@"),
    row("udevadm info", READ).when(&[("-c --cleanup-db", SERVICE)]),
    row("dmesg", READ).options("F:HJL;PSTVWdef:hkl:prs:tuwx --buffer-size= --color? --ctime --decode --facility= --file= --follow --follow-new --force-prefix --human --json --kernel --level= --noescape --nopager --notime --raw --reltime --show-delta --since= --syslog --time-format= --until= --userspace").when(&[("-c --read-clear -C --clear -D --console-off -E --console-on -n --console-level", SERVICE)]),
    row("atq|runlevel|getenforce|sestatus|aa-status|aureport|systemd-cgls|systemd-cgtop|systemd-detect-virt|systemd-escape|systemd-path", READ).options("q:bvai:cekltmupfdxnM:rsP --all --no-pager --full --unit? --user-unit? --depth= --iterations= --delay= --order= --raw --batch --quiet --container --vm --chroot --private-users --list --escape --unescape --path --suffix= --template= --mangle --instance --json --json= --verbose --summary --success --failed --start= --end= --auth --login --key --interpret --cpu= --machine= --recursive= -ts= -te= -k -l -au -m"),
    row("ausearch", READ).options("a:c:e:f:g:hi:k:m:n:o:p:r:s:t:u:v:w:x: --interpret --raw --format@ --start= --end= --message= --key= --syscall= --user= --success= --pid= --file= --input-logs --input= --just-one --line-buffered").when(&[("--checkpoint", OVERWRITE)]),
    row("systemd-analyze", READ).subs().other(SERVICE).flags("--user --system --global --no-pager --order --require --quiet --no-legend").when(&[("-H --host -M --machine --root --image", UNKNOWN)]),
    row("systemd-analyze time|systemd-analyze blame|systemd-analyze critical-chain|systemd-analyze plot|systemd-analyze dot|systemd-analyze dump|systemd-analyze cat-config|systemd-analyze unit-files|systemd-analyze unit-paths|systemd-analyze exit-status|systemd-analyze capability|systemd-analyze syscall-filter|systemd-analyze filesystems|systemd-analyze calendar|systemd-analyze timestamp|systemd-analyze timespan", READ).options("--user --system --global --no-pager --order --require --quiet --no-legend --from-pattern= --to-pattern= --fuzz= --man? --generators? --iterations= --base-time= --json@ --table --offline? --threshold= --security-policy= --instance= --tldr --profile= --recursive-errors=").when(&[("-H --host -M --machine --root --image", UNKNOWN)]),
    row("systemd-analyze unit-shell", RUN),
    row("systemctl", READ).subs().anywhere().flags("--user --system --global --no-pager -l --full -a --all --no-legend --plain -r --recursive --failed --no-ask-password --now --no-block --show-types --with-dependencies").valued("-t --type -n --lines -o --output -p --property --state -H --host -M --machine --root").when(&[("-H --host -M --machine --root", UNKNOWN)]),
    row("systemctl status|systemctl list-units|systemctl list-unit-files|systemctl list-timers|systemctl list-sockets|systemctl list-jobs|systemctl list-dependencies|systemctl list-machines|systemctl is-active|systemctl is-enabled|systemctl is-failed|systemctl is-system-running|systemctl show|systemctl cat|systemctl get-default|systemctl help|systemctl show-environment", READ).options("H:M:PTafhiln:o@p:qrs:t: --after --all --before --failed --full --lines= --no-legend --legend= --no-pager --output@ --plain --property= --quiet --recursive --reverse --show-types --state= --system --global --timestamp= --type= --user --value --wait --with-dependencies --no-ask-password --show-transaction --what= --what").when(&[("-H --host -M --machine --root --image", UNKNOWN)]).valued("-t -n -o -p --type --lines --output --property --state"),
    row("systemctl start|systemctl stop|systemctl restart|systemctl reload|systemctl try-restart|systemctl reload-or-restart|systemctl enable|systemctl disable|systemctl reenable|systemctl mask|systemctl unmask|systemctl kill|systemctl isolate|systemctl daemon-reload|systemctl daemon-reexec|systemctl edit|systemctl set-default|systemctl set-property|systemctl set-environment|systemctl unset-environment|systemctl import-environment|systemctl reset-failed|systemctl reboot|systemctl poweroff|systemctl halt|systemctl suspend|systemctl hibernate|systemctl rescue|systemctl emergency|systemctl default|systemctl link|systemctl revert|systemctl preset|systemctl clean|systemctl freeze|systemctl thaw|systemctl cancel|systemctl switch-root|systemctl kexec|systemctl add-wants", SERVICE),
    row("journalctl", READ)
        .options("D:FM:NS:U:ab;c:efg:klmn:o@p:qrt:u:xT:WI --after-cursor= --all --boot? --case-sensitive? --catalog --cursor= --directory= --disk-usage --dmesg --facility= --field= --fields --file= --follow --full --grep= --header --identifier= --exclude-identifier= --interval= --invocation= --list-invocations --lines= --list-boots --list-namespaces --machine= --merge --namespace= --no-full --no-hostname --no-pager --no-tail --output-fields= --output@ --pager-end --priority= --quiet --reverse --show-cursor --since= --system --unit= --until= --user --user-unit= --utc --verify --truncate-newline")
        .when(&[("--rotate --flush --sync --vacuum-size --vacuum-time --vacuum-files --setup-keys --update-catalog --relinquish-var --smart-relinquish-var", SERVICE), ("--cursor-file", OVERWRITE)]),
    row("service", SERVICE).subs().other(SERVICE).when(&[("--status-all", READ)]),
    row("service *", SERVICE).subs().other(SERVICE),
    row("service * status", READ),
    row("crontab", SERVICE).when(&[("-l", READ)]),
    row("useradd|userdel|usermod|groupadd|groupdel|groupmod|adduser|deluser|addgroup|delgroup|passwd|chpasswd|chsh|chfn|gpasswd|newgrp|visudo|vipw|vigr|pwconv|faillock|pam_tally2|sg|runuser|pkexec|machinectl|chage|dsmemberutil|sysadminctl", PRIVILEGE),
    // Transfers.
    row("curl", FETCH).takes(Takes::Hosts).reader(Reader::Curl),
    row("wget", SYNC)
        .takes(Takes::Hosts)
        .valued("-O -o -P -U -T -t --output-document --header --timeout --tries --user-agent")
        .when(&[("-O -o -P -a --output-document --output-file --append-output --directory-prefix", OVERWRITE), ("--post-file --body-file", UPLOAD), ("--post-data --body-data --method", SEND), ("-e --execute --use-askpass --config", RUN), ("--spider -q -S --quiet --server-response -T -t --timeout --tries --no-check-certificate -nv --no-verbose --max-redirect --user-agent -U --header -4 -6 --https-only", FETCH)])
        .reader(Reader::Wget),
    row("aria2c|axel|youtube-dl|yt-dlp", SYNC)
        .takes(Takes::Hosts)
        .valued("-O -o -P -U -T -t --output-document --header --timeout --tries")
        .when(&[("-O -o -P -d --dir --out --output --paths", OVERWRITE), ("--post-file --body-file", UPLOAD), ("--post-data --body-data --method", SEND), ("-e --execute --use-askpass --config --on-download-complete --exec", RUN), ("--spider -q -S --server-response -T -t --timeout --tries", FETCH)]),
    row("http|https|xh|xhs|httpie", SEND).takes(Takes::Hosts),
    row("scp", SEND).takes(Takes::Hosts).valued("-P -i -l -c -F -J -o -S -D -X").when(&[("-S -o -F -D", RUN)]),
    row("rsync", WRITE)
        .takes(Takes::LastWritten)
        .valued("-f -B -T -M --exclude --include --exclude-from --include-from --filter --bwlimit --files-from --max-size --min-size --timeout --port --chmod --chown --link-dest")
        .when(&[("-e --rsh --rsync-path", RUN), ("--delete --del --delete-before --delete-after --delete-during --delete-excluded --delete-delay --remove-source-files --delete-missing-args --force", DESTROY), ("--dry-run -a -v -r -z -h -n --itemize-changes --exclude --include --stats -i -u -c --checksum", READ), ("-n -a -v -r -z -h --itemize-changes --exclude --include --stats -i -u -c --checksum", READ)]),
    row("rclone|s3cmd|s5cmd|b2|croc|magic-wormhole|wormhole|transfer", UPLOAD).subs().other(UPLOAD),
    row("rclone ls|rclone lsl|rclone lsd|rclone lsf|rclone size|rclone about|rclone version|rclone listremotes|s3cmd ls|s5cmd ls", FETCH).options("")
        .only("--max-depth -R --recursive --format --include --exclude --human-readable --json -l --long --dirs-only --files-only -H --max-age --min-age")
        .valued("--max-depth --format --include --exclude")
        .shaped(&[("*,* :*", RUN)]),
    row("sendmail|mail|mailx|mutt|msmtp|swaks|notify-send|wall|write|mesg|logger|xdg-open|open|start|gnome-open|wl-copy|xclip|xsel|pbcopy|say|espeak", SEND),
    row("pbpaste", READ),
    row("wl-paste", READ).only("-n --no-newline -l --list-types -p --primary -t --type").valued("-t --type").when(&[("-w --watch", RUN)]),
    // Secrets.
    row("ssh-keygen", SECRET).when(&[("-l -f -E -v", READ), ("-F -f", READ)]),
    row("ssh-add", SECRET).when(&[("-l", READ), ("-L", READ)]),
    row("ssh-agent|ssh-copy-id|keychain|kinit|kadmin|certbot|acme.sh|mkcert|step|cfssl", SECRET),
    row("gpg|gpg2|gpgsm|gpg-agent|gpgconf|gpg-connect-agent", SECRET).when(&[("--list-keys", READ), ("-k", READ), ("--verify", READ), ("--list-public-keys", READ), ("--fingerprint", READ), ("--list-packets", READ)]),
    row("openssl", UNKNOWN).subs().other(UNKNOWN),
    row("openssl version|openssl list|openssl help|openssl ciphers", READ).options("-a -b -v -o -f -p -d -e -m -r -c -s -l -in= -inform= -outform= -noout -text -subject -issuer -dates -startdate -enddate -serial -hash -fingerprint -pubkey -modulus -email -purpose -nameopt= -certopt= -ext= -checkend= -checkhost= -checkip= -checkemail= -alias -ocsp_uri -ocspid -subject_hash -issuer_hash -sha1 -sha256 -sha384 -sha512 -md5 -CAfile= -CApath= -no-CAfile -untrusted= -partial_chain -verbose -show_chain -x509_strict -crl_check -crl_check_all -CRLfile= -trusted= -attime= -policy= -verify_depth= -verify_hostname= -crlnumber -lastupdate -nextupdate -issuer_checks -hex -base64 -binary -out_format= -digest -list -commands -digest-commands -cipher-commands -cipher-algorithms -digest-algorithms -public-key-algorithms -disabled -standard-commands -ciphers= -tls1_2 -tls1_3 -stdname -V -psk -srp -strparse= -offset= -length= -i -dump -dlimit= -oid= -noenc -verify= -signature= -out=").single_dash().when(&[("-engine -provider -provider-path -config", RUN)]),
    row("openssl x509|openssl verify|openssl crl", READ).options("-a -b -v -o -f -p -d -e -m -r -c -s -l -in= -inform= -outform= -noout -text -subject -issuer -dates -startdate -enddate -serial -hash -fingerprint -pubkey -modulus -email -purpose -nameopt= -certopt= -ext= -checkend= -checkhost= -checkip= -checkemail= -alias -ocsp_uri -ocspid -subject_hash -issuer_hash -sha1 -sha256 -sha384 -sha512 -md5 -CAfile= -CApath= -no-CAfile -untrusted= -partial_chain -verbose -show_chain -x509_strict -crl_check -crl_check_all -CRLfile= -trusted= -attime= -policy= -verify_depth= -verify_hostname= -crlnumber -lastupdate -nextupdate -issuer_checks -hex -base64 -binary -out_format= -digest -list -commands -digest-commands -cipher-commands -cipher-algorithms -digest-algorithms -public-key-algorithms -disabled -standard-commands -ciphers= -tls1_2 -tls1_3 -stdname -V -psk -srp -strparse= -offset= -length= -i -dump -dlimit= -oid= -noenc -verify= -signature= -out=")
        .single_dash()
        .valued("-inform -outform -CAfile -untrusted")
        .when(&[("-out -writerand -CAserial -CAcreateserial", OVERWRITE), ("-engine -provider -provider-path -config -extfile", RUN), ("-signkey -CAkey -key -CA -force_pubkey -req -x509toreq", SECRET)])
        .shaped(&[("*.key *.p12 *.pfx", SECRET)]),
    row("openssl dgst|openssl sha1|openssl sha256|openssl sha512|openssl md5|openssl asn1parse", READ).options("-sigopt= -a -b -v -o -f -p -d -e -m -r -c -s -l -in= -inform= -outform= -noout -text -subject -issuer -dates -startdate -enddate -serial -hash -fingerprint -pubkey -modulus -email -purpose -nameopt= -certopt= -ext= -checkend= -checkhost= -checkip= -checkemail= -alias -ocsp_uri -ocspid -subject_hash -issuer_hash -sha1 -sha256 -sha384 -sha512 -md5 -CAfile= -CApath= -no-CAfile -untrusted= -partial_chain -verbose -show_chain -x509_strict -crl_check -crl_check_all -CRLfile= -trusted= -attime= -policy= -verify_depth= -verify_hostname= -crlnumber -lastupdate -nextupdate -issuer_checks -hex -base64 -binary -out_format= -digest -list -commands -digest-commands -cipher-commands -cipher-algorithms -digest-algorithms -public-key-algorithms -disabled -standard-commands -ciphers= -tls1_2 -tls1_3 -stdname -V -psk -srp -strparse= -offset= -length= -i -dump -dlimit= -oid= -noenc -verify= -signature= -out=")
        .takes(Takes::Paths)
        .single_dash()
        .valued("-in -inform -outform -CAfile -untrusted")
        .when(&[("-out -writerand", OVERWRITE), ("-engine -provider -provider-path -config", RUN), ("-sign -signkey -CAkey -hmac -key -prverify -CA -force_pubkey", SECRET)]),
    row("openssl rand", READ).options("-a -b -v -o -f -p -d -e -m -r -c -s -l -in= -inform= -outform= -noout -text -subject -issuer -dates -startdate -enddate -serial -hash -fingerprint -pubkey -modulus -email -purpose -nameopt= -certopt= -ext= -checkend= -checkhost= -checkip= -checkemail= -alias -ocsp_uri -ocspid -subject_hash -issuer_hash -sha1 -sha256 -sha384 -sha512 -md5 -CAfile= -CApath= -no-CAfile -untrusted= -partial_chain -verbose -show_chain -x509_strict -crl_check -crl_check_all -CRLfile= -trusted= -attime= -policy= -verify_depth= -verify_hostname= -crlnumber -lastupdate -nextupdate -issuer_checks -hex -base64 -binary -out_format= -digest -list -commands -digest-commands -cipher-commands -cipher-algorithms -digest-algorithms -public-key-algorithms -disabled -standard-commands -ciphers= -tls1_2 -tls1_3 -stdname -V -psk -srp -strparse= -offset= -length= -i -dump -dlimit= -oid= -noenc -verify= -signature= -out=").single_dash().when(&[("-out -writerand", OVERWRITE), ("-engine -provider -provider-path -rand", UNKNOWN)]),
    row("openssl s_client", FETCH).single_dash().options("-connect= -host= -port= -showcerts -servername= -noservername -verify= -verify_return_error -verify_hostname= -verify_ip= -verify_quiet -CAfile= -CApath= -tls1 -tls1_1 -tls1_2 -tls1_3 -no_tls1 -no_tls1_1 -no_tls1_2 -no_tls1_3 -status -brief -starttls= -name= -cipher= -ciphersuites= -curves= -groups= -sigalgs= -alpn= -nextprotoneg= -4 -6 -prexit -msg -state -debug -tlsextdebug -trace -crlf -no_ign_eof -ct -noct -nbio -bugs -legacy_renegotiation -security_debug"),
    row("openssl s_server|openssl s_time|openssl ocsp", LISTEN),
    row("openssl genrsa|openssl genpkey|openssl req|openssl rsa|openssl ec|openssl pkey|openssl pkcs12|openssl pkcs8|openssl enc|openssl ca|openssl passwd|openssl smime|openssl cms|openssl rsautl|openssl pkeyutl|openssl ecparam|openssl dhparam", SECRET),
    row("smartctl", DEVICE).begins(&[("-a -i -H -A -l -x -c --all --info --health --attributes --scan --scan-open --xall --capabilities", READ)]),
    // Left over.
    row("updatedb|mandb|fc-cache|update-ca-certificates|update-grub|grub-install|grub-mkconfig|mkinitcpio|dracut|update-initramfs|locale-gen|efibootmgr|fwupdmgr|alsactl|amixer|xrandr|setxkbmap|setterm|chvt|loadkeys|kbd_mode", SERVICE),
    row("logrotate|tmpreaper|tmpwatch|bleachbit|fstrim|ncdu|ranger|nnn|lf|vifm|yazi", DELETE),
    row("ddrescue|photorec|testdisk|partclone|fsarchiver|ntfsfix|xfs_repair|fsfreeze", DEVICE),
];
