//! Processes, services, users, devices, the network and secrets of the machine.

use crate::effect::{
    DELETE, DESTROY, DEVICE, FETCH, LISTEN, OVERWRITE, PRIVILEGE, READ, RUN, SECRET, SEND, SERVICE,
    SYNC, UNKNOWN, UPLOAD, WRITE,
};
use crate::row::{Reader, Row, Takes, row};

pub(super) const ROWS: &[Row] = &[
    row("ps|pgrep|pidof|pstree|free|vmstat|iostat|mpstat|lscpu|lsblk|lsusb|lspci|lsmod|lsmem|lsns|lslocks|lsipc|findmnt|mountpoint|acpi|lsb_release|sw_vers|system_profiler|vm_stat|ipcs|slabtop|smem|modinfo|ioreg|pmap|pwdx|cpuid", READ)
        .valued("-o -u -p -C -t -n -d -b -N -O -f -P -s -g -G -U"),
    row("sensors", READ).when(&[("-s --set", SERVICE)]),
    row("blkid", READ).when(&[("-g --garbage-collect -w", WRITE)]),
    row("getent", READ).shaped(&[("shadow gshadow", SECRET)]),
    row("nvidia-smi", READ).only("-L -l -q -d -i --query-gpu --format --query --list-gpus").valued("-l -d -i"),
    row("sar|btop|htop|iotop", READ).when(&[("-o -w --output --export --html --csv", OVERWRITE), ("--calibrate --auto-tune", SERVICE)]),
    row("top", READ).only("-b -n -d -p -u -U -o -O -w -c -H -i -s -S -l -stats -1 -e -E").valued("-n -d -p -u -U -o -w -l -s"),
    row("lsof", READ).valued("-i -p -u -c -d -a -g -s +D +d").when(&[("-D +m", UNKNOWN)]),
    row("ss", READ).valued("-f -A -N").when(&[("-K --kill", SERVICE), ("-D --diag -F --filter", UNKNOWN)]),
    row("netstat|ipcalc|sipcalc|whois|host|nslookup|dig|kdig|ping|ping6|traceroute|traceroute6|tracepath|mtr|fping", FETCH)
        .takes(Takes::Hosts)
        .valued("-c -i -W -w -t -s -p -n -I -m -q -Q -f"),
    row("drill", FETCH).takes(Takes::Hosts).only("-t -D -S -T -V -Q -4 -6 -a -x").valued("-V").when(&[("-w", OVERWRITE)]),
    row("ifstat", READ).only("-a -b -i -n -t -T -v -h -l -S").valued("-i"),
    row("nmap|masscan|zmap|hping3|tcpdump|tshark|wireshark|ettercap|aircrack-ng|sqlmap|nikto|hydra|john|hashcat|metasploit|msfconsole|responder|bettercap", LISTEN),
    row("ip", READ).subs().single_dash().valued("-n -netns -family -f").flags("-4 -6 -0 -o -oneline -br -brief -c -color -d -details -s -stats -ss -statistics -j -json -p -pretty -r -resolve -h -human -human-readable -a -all -t -ts -iec").when(&[("-b -ba -bat -batc -batch -n -ne -net -netn -netns --batch --netns", RUN)]),
    row("ip addr|ip a|ip address|ip link|ip l|ip route|ip r|ip neigh|ip n|ip rule|ip tunnel|ip maddr|ip mroute|ip netns", READ).subs().other(SERVICE),
    row("ip addr show|ip addr list|ip a show|ip a s|ip a list|ip address show|ip link show|ip link list|ip l show|ip route show|ip route list|ip route get|ip r show|ip r s|ip neigh show|ip n show|ip rule show|ip rule list|ip netns list|ip maddr show", READ),
    row("ip netns exec", RUN),
    row("ifconfig|iwconfig", READ).beyond(1, SERVICE, ""),
    row("arp|route", READ).only("-a -n -e -v -ee").beyond(0, SERVICE, ""),
    row("iptables|ip6tables|nft|ufw|firewall-cmd|ebtables|ipset|pfctl|tc|brctl|bridge|ethtool|netplan|resolvconf|dhclient|ifup|ifdown|wpa_supplicant|iw|rfkill|modprobe|insmod|rmmod|depmod|udevadm|hwclock|ntpdate|chronyc|setenforce|semanage|setsebool|restorecon|auditctl|apparmor_parser|aa-enforce|quotaon|swapctl|defaults|launchctl|scutil|networksetup|systemsetup|pmset|spctl|csrutil|nvram|kextload|dscl|tmutil|at|batch|atrm|anacron|supervisorctl|monit|rc-service|rc-update|chkconfig|update-rc.d|initctl|sv|runit|s6-svc|bless", SERVICE)
        .subs()
        .other(SERVICE),
    row("nmcli|networkctl|timedatectl|hostnamectl|localectl|loginctl|resolvectl", READ).subs().other(SERVICE).flags("--no-pager -l --full -a --all --no-legend --no-ask-password --json -t -p -g -f -c").valued("-H --host -M --machine").when(&[("-H --host -M --machine", UNKNOWN)]),
    row("sysctl", READ).only("-a -A -X -n -N -e -b -r --all --values --names --ignore --binary --pattern").valued("-r --pattern").when(&[("-w --write -p -f --load --system", SERVICE)]).shaped(&[("*=*", SERVICE)]),
    row("ldconfig", SERVICE).when(&[("-p --print-cache", READ), ("--print-cache", READ)]),
    row("stty", READ).subs().other(SERVICE).flags("-a -g --all --save").valued("-F --file"),
    row("stty size|stty speed", READ),
    row("nmcli device|nmcli connection|nmcli general", SERVICE).subs().other(SERVICE),
    row("nmcli device status|nmcli device show|nmcli connection show|nmcli general status|ufw status|timedatectl status|timedatectl show|hostnamectl status|localectl status|loginctl list-sessions|networkctl status|networkctl list|launchctl list|launchctl print|defaults read|supervisorctl status|chronyc tracking|chronyc sources|resolvectl status|resolvectl query|resolvectl statistics|loginctl show-session|loginctl list-users|loginctl session-status|timedatectl timesync-status|timedatectl list-timezones|localectl list-locales|nft list|tmutil listbackups", READ),
    row("udevadm info", READ).when(&[("-c --cleanup-db", SERVICE)]),
    row("dmesg", READ).when(&[("-c --read-clear -C --clear -D --console-off -E --console-on -n --console-level", SERVICE)]),
    row("atq|runlevel|getenforce|sestatus|aa-status|aureport|systemd-cgls|systemd-cgtop|systemd-detect-virt|systemd-escape|systemd-path", READ),
    row("ausearch", READ).when(&[("--checkpoint", OVERWRITE)]),
    row("systemd-analyze", READ).subs().other(SERVICE).flags("--user --system --global --no-pager --order --require --quiet --no-legend").when(&[("-H --host -M --machine --root --image", UNKNOWN)]),
    row("systemd-analyze time|systemd-analyze blame|systemd-analyze critical-chain|systemd-analyze plot|systemd-analyze dot|systemd-analyze dump|systemd-analyze cat-config|systemd-analyze unit-files|systemd-analyze unit-paths|systemd-analyze exit-status|systemd-analyze capability|systemd-analyze condition|systemd-analyze syscall-filter|systemd-analyze filesystems|systemd-analyze calendar|systemd-analyze timestamp|systemd-analyze timespan|systemd-analyze verify|systemd-analyze security|systemd-analyze inspect-elf", READ).when(&[("-H --host -M --machine --root --image", UNKNOWN)]),
    row("systemd-analyze unit-shell", RUN),
    row("systemctl", READ).subs().flags("--user --system --global --no-pager -l --full -a --all --no-legend --plain -r --recursive --failed --no-ask-password --now --no-block --show-types --with-dependencies").valued("-t --type -n --lines -o --output -p --property --state -H --host -M --machine --root").when(&[("-H --host -M --machine --root", UNKNOWN)]),
    row("systemctl status|systemctl list-units|systemctl list-unit-files|systemctl list-timers|systemctl list-sockets|systemctl list-jobs|systemctl list-dependencies|systemctl list-machines|systemctl is-active|systemctl is-enabled|systemctl is-failed|systemctl is-system-running|systemctl show|systemctl cat|systemctl get-default|systemctl help|systemctl show-environment", READ).when(&[("-H --host -M --machine --root --image", UNKNOWN)]).valued("-t -n -o -p --type --lines --output --property --state"),
    row("systemctl start|systemctl stop|systemctl restart|systemctl reload|systemctl try-restart|systemctl reload-or-restart|systemctl enable|systemctl disable|systemctl reenable|systemctl mask|systemctl unmask|systemctl kill|systemctl isolate|systemctl daemon-reload|systemctl daemon-reexec|systemctl edit|systemctl set-default|systemctl set-property|systemctl set-environment|systemctl unset-environment|systemctl import-environment|systemctl reset-failed|systemctl reboot|systemctl poweroff|systemctl halt|systemctl suspend|systemctl hibernate|systemctl rescue|systemctl emergency|systemctl default|systemctl link|systemctl revert|systemctl preset|systemctl clean|systemctl freeze|systemctl thaw|systemctl cancel|systemctl switch-root|systemctl kexec|systemctl add-wants", SERVICE),
    row("journalctl", READ)
        .valued("-u --unit -n --lines -p --priority -S --since -U --until -o --output -b --boot -g --grep -t --identifier -D --directory --file --user-unit -I")
        .when(&[("--rotate --flush --sync --vacuum-size --vacuum-time --vacuum-files --setup-keys --update-catalog --relinquish-var --smart-relinquish-var", SERVICE), ("--cursor-file", OVERWRITE)]),
    row("service", SERVICE).when(&[("--status-all", READ)]),
    row("crontab", SERVICE).when(&[("-l", READ)]),
    row("useradd|userdel|usermod|groupadd|groupdel|groupmod|adduser|deluser|addgroup|delgroup|passwd|chpasswd|chsh|chfn|gpasswd|newgrp|visudo|vipw|vigr|pwconv|faillock|pam_tally2|sg|runuser|pkexec|machinectl|chage|dsmemberutil|sysadminctl", PRIVILEGE),
    // Transfers.
    row("curl", FETCH).takes(Takes::Hosts).reader(Reader::Curl),
    row("wget", SYNC)
        .takes(Takes::Hosts)
        .valued("-O -o -P -U -T -t --output-document --header --timeout --tries --user-agent")
        .when(&[("-O -o -P -a --output-document --output-file --append-output --directory-prefix", OVERWRITE), ("--post-file --body-file", UPLOAD), ("--post-data --body-data --method", SEND), ("-e --execute --use-askpass --config", RUN), ("--spider -q -S --server-response -T -t --timeout --tries", FETCH)])
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
    row("rclone|s3cmd|s5cmd|mc|b2|croc|magic-wormhole|wormhole|transfer", UPLOAD).subs().other(UPLOAD),
    row("rclone ls|rclone lsl|rclone lsd|rclone lsf|rclone size|rclone about|rclone version|rclone listremotes|s3cmd ls|mc ls|s5cmd ls", FETCH)
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
    row("openssl version|openssl list|openssl help|openssl ciphers", READ).single_dash().when(&[("-engine -provider -provider-path -config", RUN)]),
    row("openssl x509|openssl verify|openssl crl", READ)
        .single_dash()
        .valued("-inform -outform -CAfile -untrusted")
        .when(&[("-out -writerand -CAserial -CAcreateserial", OVERWRITE), ("-engine -provider -provider-path -config -extfile", RUN), ("-signkey -CAkey -key -CA -force_pubkey -req -x509toreq", SECRET)])
        .shaped(&[("*.key *.p12 *.pfx", SECRET)]),
    row("openssl dgst|openssl sha1|openssl sha256|openssl sha512|openssl md5|openssl asn1parse", READ)
        .takes(Takes::Paths)
        .single_dash()
        .valued("-in -inform -outform -CAfile -untrusted")
        .when(&[("-out -writerand", OVERWRITE), ("-engine -provider -provider-path -config", RUN), ("-sign -signkey -CAkey -hmac -key -prverify -CA -force_pubkey", SECRET)]),
    row("openssl rand", READ).single_dash().when(&[("-out -writerand", OVERWRITE), ("-engine -provider -provider-path -rand", UNKNOWN)]),
    row("openssl s_client", SEND).single_dash(),
    row("openssl s_server|openssl s_time|openssl ocsp", LISTEN),
    row("openssl genrsa|openssl genpkey|openssl req|openssl rsa|openssl ec|openssl pkey|openssl pkcs12|openssl pkcs8|openssl enc|openssl ca|openssl passwd|openssl smime|openssl cms|openssl rsautl|openssl pkeyutl|openssl ecparam|openssl dhparam", SECRET),
    // Left over.
    row("updatedb|mandb|fc-cache|update-ca-certificates|update-grub|grub-install|grub-mkconfig|mkinitcpio|dracut|update-initramfs|locale-gen|efibootmgr|fwupdmgr|alsactl|amixer|xrandr|setxkbmap|setterm|chvt|loadkeys|kbd_mode", SERVICE),
    row("logrotate|tmpreaper|tmpwatch|bleachbit|fstrim|ncdu|ranger|nnn|lf|vifm|yazi", DELETE),
    row("smartctl|ddrescue|photorec|testdisk|partclone|fsarchiver|ntfsfix|dumpe2fs|xfs_repair|fsfreeze", DEVICE),
];
