//! Coreutils, findutils, the grep family and other everyday text tools; shell builtins.

use crate::effect::{
    DELETE, DESTROY, DEVICE, FETCH, KILL, LISTEN, OVERWRITE, READ, RUN, SERVICE, SIGNAL, UNKNOWN,
    WRITE,
};
use crate::row::{Reader, Row, Takes, row};

use Takes::{LastWritten, Names, Paths, PatternThenPaths};

pub(super) const ROWS: &[Row] = &[
    // Printing and looking.
    row("echo|true|false|:|pwd|whoami|logname|groups|id|tty|nproc|arch|uname|users|uptime|seq|expr|factor", READ),
    row("printenv|basename|dirname|sleep|numfmt|tput|locale|getconf|cal|ncal|figlet|bc", READ),
    row("dc", RUN),
    row("printf", READ).reader(Reader::Builtin),
    row("who|w|last", READ),
    row("lastlog", READ).only("-b -t -u --before --time --user").valued("-b -t -u").when(&[("-C --clear -S --set", SERVICE)]),
    row("yes", UNKNOWN),
    row("file", READ).takes(Names).when(&[("-C --compile", WRITE), ("-m --magic-file", UNKNOWN)]),
    row("ls|dir|vdir|stat|readlink|realpath|du|df|exa|eza|lsd|namei|getfacl|lsattr|pathchk", READ)
        .takes(Names),
    row("cat|tac|nl|wc|head|tail|cut|paste|fold|expand|unexpand|rev|od|hexdump|hd|cmp|comm|join|look|sum|cksum|md5sum|sha1sum|sha224sum|sha256sum|sha384sum|sha512sum|b2sum|md5|shasum|fmt|column|zcat|gzcat|bzcat|xzcat|lzcat|tsort|colrm|pr", READ)
        .takes(Paths)
        .valued("-n -c -d -f -b -w -s -t -N -j -A -B -C -m -i --lines --bytes --delimiter --fields"),
    row("base64|base32|basenc", READ).takes(Paths).valued("-w --wrap -i -b").when(&[("-o --output", OVERWRITE)]),
    row("nm|size|objdump|readelf|strings|otool", READ).takes(Paths).when(&[("--plugin", RUN)]),
    row("zstdcat|htmlq", READ).takes(Paths).when(&[("-o --output --output-dir-flat -O --output-dir-mirror", OVERWRITE)]),
    row("xmllint", READ)
        .takes(Paths)
        .single_dash()
        .valued("-xpath -schema -relaxng -encode -pattern -pretty")
        .only("-noout -format -recover -noblanks -nonet -valid -html -huge -c14n -nowarning -quiet -stream -nsclean -nocdata -dropdtd")
        .when(&[("-o -output", OVERWRITE), ("-shell", RUN)]),
    row("tr|ascii|jot|rs|lam", READ),
    row("iconv", READ).takes(Paths).valued("-f -t --from-code --to-code").when(&[("-o --output", OVERWRITE)]),
    row("sort", READ)
        .takes(Paths)
        .valued("-k -t -S -T --key --field-separator --buffer-size --parallel --batch-size --files0-from --random-source --sort")
        .when(&[("-o --output", OVERWRITE), ("--compress-program", RUN), ("-T --temporary-directory", UNKNOWN)]),
    row("uniq", READ)
        .takes(Paths)
        .valued("-f -s -w --skip-fields --skip-chars --check-chars")
        .beyond(1, OVERWRITE, ""),
    row("shuf", READ).takes(Paths).valued("-i -n --input-range --head-count --random-source").when(&[("-o --output", OVERWRITE)]),
    row("diff|diff3|sdiff|colordiff|wdiff|zdiff", READ).takes(Paths).valued("-U -C -W -I -x -X -F --label -L")
        .when(&[("-o --output", OVERWRITE), ("--diff-program", RUN)]),
    row("difft|delta|diffstat|dwdiff|icdiff", READ).takes(Paths).when(&[("--pager --paging --config", RUN), ("-o", OVERWRITE)]),
    row("xxd", READ).takes(Paths).valued("-c -g -l -s -o -n").beyond(1, OVERWRITE, "").when(&[("-r -revert --revert", WRITE)]),
    row("date", READ)
        .valued("-d --date -f --file -r --reference -v")
        .when(&[("-s --set", SERVICE), ("-j -u -f -v -r -R -n +%", READ)])
        .shaped(&[("0* 1* 2* 3* 4* 5* 6* 7* 8* 9*", SERVICE)]),
    row("hostname|domainname|nisdomainname|dnsdomainname", READ).beyond(0, SERVICE, "").only("-f -i -I -s -d -a -A --fqdn --short --ip-address --all-ip-addresses --long --version --help"),
    row("env", READ),
    row("which|whereis|whatis|apropos|type|locate|mlocate|plocate", READ).takes(Names),
    row("man|info", READ)
        .when(&[("-P --pager -H --html -l --local-file -C --config-file -B --browser -o --output --dribble --restore --init-file -w --where -X --gxditview -p --preprocessor -T --troff-device", RUN)]),
    row("help|clear|reset|tabs|dircolors", READ),
    row("tldr|cheat", READ).only("-l --list -p --platform -L --language --raw -m --markdown -s --search -c --color").valued("-p -L -s").when(&[("-u --update --update_cache --clear-cache --seed-config --gen-config", WRITE), ("-e --edit --edit-patch --edit-page --rm", RUN)]),
    row("less|more|most|pg", READ).takes(Paths).only("-N -S -R -F -X -n -i -r -K -E -e -s -m -M -q -f").when(&[("-o -O --log-file --LOG-FILE -k --lesskey-file --lesskey-src --lesskey-content -t --tag -T --tag-file -p", RUN)]),
    row("bat|batcat", READ).takes(Paths).valued("-l --language -r --line-range -H --highlight-line --style --color --theme --wrap --tabs --terminal-width --decorations --italic-text")
        .when(&[("--pager --config-file --lessopen", RUN), ("--build --clear --generate-config-file", WRITE)]),
    row("glow|mdcat|hexyl|tokei|cloc|scc|loc", READ).takes(Paths).when(&[
        ("-o -O --output --out --report-file --write-lang-def --force-lang-def --extract-with --diff-list-file --read-lang-def --config --sql-append --ignored --counted --found --categorized --unicode --save --vcs --strip-comments --strip-code --format-multi --use-sloccount", UNKNOWN)]),
    row("pygmentize", READ).takes(Paths).only("-l -g -f -O -P -s -N -C -L -H").valued("-l -f -O -P").when(&[("-o", OVERWRITE), ("-x", RUN)]),
    row("tree", READ)
        .takes(Names)
        .valued("-L -P -I -H -T --filelimit --timefmt --charset --sort --gitfile --infofile")
        .when(&[("-o --output", OVERWRITE), ("-R", UNKNOWN)]),
    row("grep|egrep|fgrep|zgrep|zegrep|bzgrep|xzgrep|ggrep", READ)
        .takes(PatternThenPaths)
        .valued("-e -f -m -A -B -C -d -D --regexp --file --max-count --after-context --before-context --context --include --exclude --exclude-dir --exclude-from --color --colour --label --binary-files --directories --devices"),
    row("rg", READ)
        .takes(PatternThenPaths)
        .valued("-e -f -g -t -T -m -A -B -C -E -j -M -r -d --regexp --file --glob --iglob --type --type-not --max-count --after-context --before-context --context --encoding --threads --max-columns --replace --max-depth --sort --sortr --color --colors --path-separator --engine --max-filesize --type-add --type-clear --ignore-file --context-separator --field-match-separator --dfa-size-limit --regex-size-limit")
        .when(&[("--pre --hostname-bin", RUN), ("-z --search-zip", UNKNOWN)]),
    row("ag|ack", READ).takes(PatternThenPaths).valued("-A -B -C -m -G --ignore --depth")
        .when(&[("--pager --output --ackrc --env", RUN)]),
    row("fd|fdfind", READ)
        .takes(Names)
        .valued("-t -e -E -d -s -S -c -j --type --extension --exclude --max-depth --min-depth --exact-depth --size --changed-within --changed-before --color --owner --base-directory --search-path --path-separator --threads --max-results --format --ignore-file --strip-cwd-prefix")
        .when(&[("-x --exec -X --exec-batch", RUN)]),
    row("find|gfind", READ).takes(Names).reader(Reader::Find),
    row("sed|gsed", READ).takes(Paths).reader(Reader::Sed),
    row("awk|gawk|mawk|nawk", READ).takes(Paths).reader(Reader::Awk),
    row("jq|gojq|jaq", READ)
        .takes(PatternThenPaths)
        .valued("--arg --argjson --slurpfile --rawfile --args --jsonargs --indent")
        .when(&[("-f --from-file -L --library-path", UNKNOWN), ("-i --in-place", WRITE)]),
    row("yq|xq|tomlq|pup|xpath|csvcut|csvlook|csvstat|csvgrep|csvsort|csvjson|gron", READ)
        .takes(PatternThenPaths)
        .valued("-o -p -c -C -r -I --output-format --input-format --indent --xpath")
        .when(&[("-i --in-place --inplace -s --split-exp -f --from-file -O --output --outfile --split-exp-file --prettier -n --nextscript --shell --load", WRITE)]),
    row("[|test", READ).takes(Names).reader(Reader::Test),
    // Shell builtins.
    row("cd|pushd|popd|dirs|exit|return|break|continue|shift|times|wait|jobs|umask|ulimit|caller|logout|getopts", READ).reader(Reader::Builtin),
    row("set|shopt|export|declare|typeset|local|readonly|unset|read|mapfile|readarray|let|alias|unalias|hash|history|trap|setopt|unsetopt|print", READ).reader(Reader::Builtin),
    row("enable|bind|complete|compgen|compopt|fc|suspend|fg|bg|disown|source|.|autoload|zmodload|noglob|nocorrect|emulate|zle|functions", RUN),
    // Changing files.
    row("mkdir", WRITE).takes(Paths).valued("-m --mode -Z --context"),
    row("touch", WRITE).takes(Paths).valued("-d -t -r --date --reference"),
    row("rmdir", DELETE).takes(Paths),
    row("mv", WRITE).takes(Paths).valued("-t -S --target-directory --suffix").when(&[("-f --force", WRITE), ("-t --target-directory", OVERWRITE)]),
    row("cp|gcp", WRITE).takes(LastWritten).valued("-t -S --target-directory --suffix").when(&[("-t --target-directory", OVERWRITE)]),
    row("install", WRITE).takes(LastWritten).valued("-m -o -g -t -S --mode --owner --group --target-directory").when(&[("--strip-program", RUN), ("-t --target-directory", OVERWRITE)]),
    row("ln|link|symlink", WRITE).takes(LastWritten).valued("-t -S --target-directory").when(&[("-t --target-directory", OVERWRITE)]),
    row("chmod|chown|chgrp|setfacl|chattr|chflags|chcon", WRITE).takes(PatternThenPaths).reader(Reader::Chmod),
    row("tee", OVERWRITE).takes(Paths).valued("--output-error"),
    row("truncate", WRITE).takes(Paths).valued("-s -r --size --reference").when(&[("-s --size", DESTROY)]),
    row("split|csplit", WRITE).takes(Paths).valued("-n -l -b -a").when(&[("--filter", RUN)]),
    row("mktemp|mkfifo|fallocate|dos2unix|unix2dos|patch|rename|prename", WRITE).takes(Paths),
    row("shred|wipe|srm", DESTROY).takes(Paths),
    row("unlink", DELETE).takes(Paths),
    row("rm|grm", DELETE).takes(Paths).reader(Reader::Rm),
    row("trash|trash-put|gio", DELETE).takes(Paths),
    row("dd|gdd", WRITE).reader(Reader::Dd),
    row("sync", WRITE),
    // Archives.
    row("tar|gtar|bsdtar", WRITE).takes(Paths).reader(Reader::Tar),
    row("zip", WRITE).takes(Paths).when(&[("-m --move", DESTROY), ("-T -TT --unzip-command", RUN), ("-d --delete", DELETE)]),
    row("unzip", WRITE).takes(Paths).valued("-d -x -P").when(&[("-d", OVERWRITE), ("-l -q -v", READ), ("-t -q", READ), ("-p -q", READ), ("-c -q", READ), ("-Z -1 -l -m -s", READ), ("-v -q", READ)]),
    row("zipinfo|lsar", READ).takes(Paths),
    row("gzip|gunzip|bzip2|bunzip2|xz|unxz|zstd|unzstd|lz4|pigz|lzma|unlzma|compress|uncompress|brotli", WRITE)
        .takes(Paths)
        .valued("-S -b -T")
        .when(&[("-l -v -q", READ), ("--list -v", READ), ("-t -v -q", READ), ("-c -d -k -f --decompress", READ), ("--stdout --decompress -d -k -f", READ)]),
    row("rar|unrar|cpio|pax", WRITE).takes(Paths),
    row("7z|7za|7zr", WRITE).subs().other(WRITE),
    row("7z l|7z t|7z i|7za l|7za t|7zr l", READ).takes(Paths),
    row("ar", WRITE).subs().other(WRITE),
    row("ar t|ar tv|ar p", READ).takes(Paths).when(&[("--plugin", RUN), ("--output", OVERWRITE)]),
    // Programs that take over the terminal or run commands typed into them.
    row("ed|ex|vi|vim|nvim|nano|emacs|emacsclient|pico|joe|micro|helix|hx|code|subl|kate|gedit|view|vimdiff", RUN),
    row("script|expect|screen|tmux|zellij|dialog|whiptail|fzf|sk|rlwrap|unbuffer|rsh|rlogin", RUN),
    row("socat|socat1", LISTEN),
    row("telnet|ftp|sftp|tftp|lftp|ncftp", RUN),
    row("nc|ncat|netcat", LISTEN).valued("-w -p -s -x -X -q -i").when(&[("-z -v -n -w -4 -6 -u", FETCH), ("-e -c --exec --sh-exec -l --listen -k", LISTEN)]).reader(Reader::Netcat),
    row("kill|pkill|killall|skill|xkill|fuser", SIGNAL).reader(Reader::Kill),
    row("renice", SIGNAL),
    row("shutdown|reboot|halt|poweroff|init|telinit|systemd-run|kexec", KILL),
    row("mkfs|fdisk|cfdisk|sfdisk|parted|gdisk|sgdisk|wipefs|mkswap|swapon|swapoff|losetup|cryptsetup|lvremove|lvcreate|vgremove|pvremove|pvcreate|mdadm|badblocks|blkdiscard|hdparm|debugfs|e2fsck|fsck|tune2fs|resize2fs|mount|umount|eject|diskutil|hdiutil|zpool|zfs|btrfs|mkfs.ext4|mkfs.ext3|mkfs.ext2|mkfs.xfs|mkfs.vfat|mkfs.btrfs|mkfs.ntfs|mke2fs|mknod|flashrom|nvme|sg_format|partprobe", DEVICE),
];
