//! Coreutils, findutils, the grep family and other everyday text tools; shell builtins.

use crate::effect::{
    DELETE, DESTROY, DEVICE, FETCH, KILL, LISTEN, OVERWRITE, READ, RUN, SERVICE, SIGNAL, UNKNOWN,
    WRITE,
};
use crate::row::{Reader, Row, Takes, row};

use Takes::{LastWritten, Names, Paths, PatternThenPaths};

/// Disk tools that are asked what there is.
const SHOWS_DISK: &[(&str, crate::effect::Does)] = &[(
    "-l --list --show --show=* --detail --examine --query --getss --getsz --getsize64 --getro --getra --getbsz --getalignoff --getpbsz --getiomin --getioopt --report",
    READ,
)];

pub(super) const ROWS: &[Row] = &[
    // Printing and looking.
    row("echo", READ).reader(Reader::Echo),
    row("true|false|:|expr", READ).reader(Reader::Echo),
    row("pwd", READ).options("LP --logical --physical"),
    row("whoami|logname|groups|users|factor", READ).options(""),
    row("arch", READ).beyond(0, RUN, ""),
    row("id", READ).options("GZagnruz --context --group --groups --name --real --user --zero P"),
    row("tty", READ).options("s --quiet --silent"),
    row("nproc", READ).options("--all --ignore="),
    row("uname", READ).options("aimnoprsv --all --hardware-platform --kernel-name --kernel-release --kernel-version --machine --nodename --operating-system --processor"),
    row("uptime", READ).options("Vhps --pretty --since"),
    row("seq", READ).options("f:s:w --equal-width --format= --separator="),
    row("printenv", READ).options("0 --null"),
    row("basename", READ).options("as:z --multiple --suffix= --zero"),
    row("dirname", READ).options("z --zero"),
    row("sleep", READ),
    row("numfmt", READ).options("Md:z --debug --delimiter= --field= --format= --from-unit= --from= --grouping --header? --invalid= --padding= --round= --suffix= --to-unit= --to= --zero-terminated"),
    row("tput", READ).options("T:xS"),
    row("locale", READ).options("Vackmv --all-locales --category-name --charmaps --keyword-name --verbose"),
    row("getconf", READ).options("av:"),
    row("cal|ncal|gcal|jcal", READ).options("13hjmwyYneopsuvA:B:J:C:N:W:d:H:Sb: --one --three --year --twelve --months= --sunday --monday --julian --week? --iso --reform= --span --color?"),
    row("figlet|toilet", READ).options("cklnoprstvDELNRSWXd:f:F:m:w:I:").when(&[("-C --export -E -A", UNKNOWN)]),
    row("cowsay|cowthink|xcowsay", READ).options("bdgpstwyne:T:W:lr").when(&[("-f", UNKNOWN)]),
    row("lolcat|pridecat|sl|fortune", READ).options("acefilosuwn:m:adp:F:S:tt --animate --force --invert --truecolor --spread= --freq= --seed= --duration= --speed="),
    row("bc", READ).options("ilwsq --interactive --mathlib --warn --standard --quiet").takes(Paths),
    row("dc", RUN).reader(Reader::Dc).valued("-e --expression -f --file -k -i -o"),
    row("units", READ).options("tvqcemnsO:o:d:p:1 --compact --digits= --exponential --minus --oldstar --newstar --output-format= --precision= --quiet --silent --round --strict --terse --to-base --one-line --verbose --check --list-units --conformable").when(&[("-f --file -H --history -L --log -u --units", UNKNOWN)]),
    row("uuidgen", READ).options("rtmsn:N:xC: --random --time --namespace= --name= --md5 --sha1 --hex --count="),
    row("mcookie", READ).options("vf:m: --file= --max-size= --verbose"),
    row("printf", READ).reader(Reader::Builtin),
    row("who", READ).options("HTabdlmpqrstuw --all --boot --count --dead --heading --ips --login --lookup --mesg --message --process --runlevel --short --time --users --writable"),
    row("w", READ).options("Vfhiosu --from --ip-addr --no-current --no-header --old-style --short"),
    row("last|lastb", READ).options("FRVadf:hip:s:t:wx --dns --file= --fullnames --fulltimes= --hostlast --ip --limit= --nohostname --present= --since= --system --time-format= --until="),
    row("lastcomm|ac", READ).options("pdayz --totals-only --individual-totals --daily-totals --complain --reboots --supplants --timewarps --compatibility --all-days --tw-leniency= --tw-suspicious= --print-year --print-zeros --debug f: --file= --strict-match --user= --command= --tty= --forwards"),
    row("finger", FETCH).takes(Takes::Hosts).options("lmps").shaped(&[("*@*", UNKNOWN)]),
    row("pinky", READ).options("lsmpbhiwfqT --lookup"),
    row("lastlog", READ).only("-b -t -u --before --time --user").valued("-b -t -u --before --time --user").when(&[("-C --clear -S --set", SERVICE)]),
    row("yes", UNKNOWN),
    row("file", READ).takes(Names).options("0EF:LNP:bcde:f:hiklnrsv --apple --brief --checking-printout --dereference --exclude-quiet --exclude= --extension --files-from= --keep-going --list --mime --mime-encoding --mime-type --no-buffer --no-dereference --no-pad --parameter= --print0 --raw --separator= --special-files").when(&[("-C --compile", WRITE), ("-m --magic-file -z -Z --uncompress --uncompress-noreport -S --no-sandbox", UNKNOWN), ("-p --preserve-date", WRITE)]),
    row("mimetype", READ).takes(Names).options("abdDiLMl:n:N --all --brief --describe --dereference --language= --magic-only --debug --mimetype --no-align --separator= --noalign"),
    row("ls|dir|vdir|gls", READ).takes(Names).options("1ABCDF;GHI:LNQRST:UXZabcdfghiklmnop:qrstuvw:x --all --almost-all --author --block-size= --classify? --color? --context --dereference --dereference-command-line --dereference-command-line-symlink-to-dir --directory --dired --escape --file-type --format= --full-time --group-directories-first --hide-control-chars --hide= --human-readable --hyperlink? --ignore-backups --ignore= --indicator-style= --inode --kibibytes --literal --no-group --numeric-uid-gid --quote-name --quoting-style= --recursive --reverse --show-control-chars --si --size --sort= --tabsize= --time-style= --time= --width= --zero= eOWy"),
    row("eza|exa", READ).takes(Names).options("1lGxRTFdarst:bBgHimSUuZ:L:I:w: --oneline --long --grid --across --recurse --tree --classify? --color? --colour? --color-scale? --color-scale-mode= --icons? --no-quotes --hyperlink --absolute? --width= --all --almost-all --list-dirs --level= --reverse --sort= --group-directories-first --group-directories-last --only-dirs --only-files --ignore-glob= --git-ignore --binary --bytes --group --smart-group --header --links --inode --modified --mounts --numeric --flags --blocksize --time= --accessed --created --total-size --time-style= --no-permissions --octal-permissions --no-filesize --no-user --no-time --no-git --git --git-repos --git-repos-no-status --extended --context D f n o y M"),
    row("lsd|colorls", READ).takes(Names).options("aAFhl1RdtSXGvUrZiNLA --all --almost-all --color= --icon= --icon-theme= --classify --long --oneline --recursive --human-readable --tree --depth= --directory-only --permission= --size= --total-size --date= --timesort --sizesort --extensionsort --gitsort --versionsort --sort= --no-sort --reverse --group-dirs= --group-directories-first --blocks= --classic --no-symlink --ignore-glob= --inode --git --dereference --context --hyperlink= --header --truncate-owner-after= --literal --sd --sf --gs --report --dirs --files --light --dark"),
    row("stat|gstat", READ).takes(Names).options("FLc:f;lnqrst;x --cached= --dereference --file-system --format= --printf= --terse"),
    row("readlink|greadlink", READ).takes(Names).options("efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero"),
    row("realpath|grealpath", READ).takes(Names).options("LPemqsz --canonicalize-existing --canonicalize-missing --logical --no-symlinks --physical --quiet --relative-base= --relative-to= --strip --zero"),
    row("du", READ).takes(Names).options("0B:DHLPSX:abcd:hklmst:x --all --apparent-size --block-size= --bytes --count-links --dereference --dereference-args --exclude-from= --exclude= --files0-from= --human-readable --inodes --max-depth= --no-dereference --null --one-file-system --separate-dirs --si --summarize --threshold= --time-style= --time= --total Agnr:I:"),
    row("df", READ).takes(Names).options("B:HPTahiklt:vx: --all --block-size= --exclude-type= --human-readable --inodes --local --no-sync --output? --portability --print-type --si --total --type= bgIYn"),
    row("dust|duf|dfc|dysk|diskus|dutree", READ).takes(Names).options("d:n:prsbcatfi:XxzFDTvVHLBSw:e:j:o:l --depth= --number-of-lines= --full-paths --ignore-directory= --reverse --no-colors --no-percent-bars --min-size= --screen-reader --skip-total --filecount --ignore-hidden --filter= --invert-filter= --file_types --terminal_width= --only-dir --only-file --all --hide= --inodes --json --only= --output= --sort= --style= --theme= --warnings --width= --avail-threshold= --usage-threshold= --hide-fs= --hide-mp= --only-fs= --only-mp= --color= --cols= --units= --filter= --csv --list-cols --apparent-size --count-hard-links --format= --stay-on-filesystem --ignore-dirs= --threads=").shaped(&[("interactive i index", UNKNOWN)]),
    row("namei", READ).takes(Names).options("Vhlmnovx --long --modes --mountpoints --nosymlinks --owners --vertical"),
    row("getfacl", READ).takes(Names).options("acdeEnpRLPst --access --absolute-names --default --all-effective --no-effective --skip-base --recursive --logical --physical --tabular --numeric --omit-header"),
    row("getfattr", READ).takes(Names).options("dhLn:e:m:PR --dump --encoding= --no-dereference --logical --match= --name= --physical --recursive --absolute-names --only-values"),
    row("lsattr", READ).takes(Names).options("RVadlpv"),
    row("pathchk", READ).options("Pp --portability"),
    row("cat|gcat", READ).takes(Paths).options("AETbenstuv --number --number-nonblank --show-all --show-ends --show-nonprinting --show-tabs --squeeze-blank"),
    row("tac", READ).takes(Paths).options("brs: --before --regex --separator="),
    row("nl", READ).takes(Paths).options("b:d:f:h:i:l:n:ps:v:w: --body-numbering= --footer-numbering= --header-numbering= --join-blank-lines= --line-increment= --no-renumber --number-format= --number-separator= --number-width= --section-delimiter= --starting-line-number="),
    row("wc|gwc", READ).takes(Paths).options("Lclmw --bytes --chars --files0-from= --lines --max-line-length --words --total="),
    row("head|ghead", READ).takes(Paths).options("c:n:qvz --bytes= --lines= --quiet --silent --verbose --zero-terminated"),
    row("tail|gtail", READ).takes(Paths).options("Fc:fn:qs:vzrb: --bytes= --follow? --lines= --max-unchanged-stats= --pid= --quiet --retry --silent --sleep-interval= --verbose --zero-terminated"),
    row("cut|gcut", READ).takes(Paths).options("Mb:c:d:f:nsz --bytes= --characters= --complement --delimiter= --fields= --only-delimited --output-delimiter= --zero-terminated"),
    row("paste", READ).takes(Paths).options("d:sz --delimiters= --serial --zero-terminated"),
    row("fold", READ).takes(Paths).options("bsw: --bytes --spaces --width="),
    row("expand", READ).takes(Paths).options("it: --initial --tabs="),
    row("unexpand", READ).takes(Paths).options("at: --all --first-only --tabs="),
    row("rev", READ).takes(Paths).options("0 --zero"),
    row("od", READ).takes(Paths).options("A:N:S:abcdfij:lost:vw;x --address-radix= --endian= --format= --output-duplicates --read-bytes= --skip-bytes= --strings? --traditional --width?"),
    row("hexdump|hd", READ).takes(Paths).options("CL;Vbcde:f:hn:os:vx --canonical --color? --format-file= --format= --length= --no-squeezing --one-byte-char --one-byte-octal --skip= --two-bytes-decimal --two-bytes-hex --two-bytes-octal"),
    row("cmp", READ).takes(Paths).options("bi:ln:sv --bytes= --ignore-initial= --print-bytes --quiet --silent --verbose"),
    row("comm", READ).takes(Paths).options("123z --check-order --nocheck-order --output-delimiter= --total --zero-terminated"),
    row("join", READ).takes(Paths).options("1:2:a:e:ij:o:t:v:z --check-order --header --ignore-case --nocheck-order --zero-terminated -a1 -a2"),
    row("look", READ).options("Vad:fht: --alphanum --alternative --ignore-case --terminate="),
    row("sum", READ).takes(Paths).options("rs --sysv"),
    row("cksum", READ).takes(Paths).options("a:cl:wz --algorithm= --check --debug --ignore-missing --length= --quiet --status --strict --tag --untagged --warn --zero o: --base64 --raw"),
    row("md5sum|sha1sum|sha224sum|sha256sum|sha384sum|sha512sum|gmd5sum|gsha256sum", READ).takes(Paths).options("bctwz --binary --check --ignore-missing --quiet --status --strict --tag --text --warn --zero"),
    row("b2sum", READ).takes(Paths).options("bcl:twz --binary --check --ignore-missing --length= --quiet --status --strict --tag --text --warn --zero"),
    row("b3sum|xxhsum|xxh64sum|xxh128sum|crc32", READ).takes(Paths).options("cqwl:H:b --check --quiet --length= --seek= --num-threads= --no-mmap --no-names --raw --tag --keyed --derive-key= --little-endian --status --strict --warn"),
    row("md5|shasum", READ).takes(Paths).options("0Ua:bchpqrs:tvw --01 --UNIVERSAL --algorithm= --binary --check --ignore-missing --quiet --status --strict --tag --text --warn"),
    row("fmt", READ).takes(Paths).options("cg:p:stuw: --crown-margin --goal= --prefix= --split-only --tagged-paragraph --uniform-spacing --width="),
    row("column", READ).takes(Paths).options("E:H:JLN:O:R:T:VW:c:dehi:l:n:o:p:r:s:tx --fillrows --json --keep-empty-lines --output-separator= --output-width= --separator= --table --table-columns-limit= --table-columns= --table-header-repeat --table-hide= --table-name= --table-noextreme= --table-noheadings --table-order= --table-right= --table-truncate= --table-wrap= --tree-id= --tree-parent= --tree="),
    row("colrm|tsort|colcrt|ul|rs|lam|ascii|jot", READ).options("dt:i2cs:T:rbn:w:p: --table --spacing="),
    row("pr", READ).takes(Paths).options("D:FJN:S;TW:acde;fh:i;l:mn;o:rs;tvw: --across --columns= --date-format= --double-space --expand-tabs? --first-line-number= --form-feed --header= --indent= --join-lines --length= --merge --no-file-warnings --number-lines? --omit-header --omit-pagination --output-tabs? --page-width= --sep-string? --separator? --show-control-chars --show-nonprinting --width="),
    row("zcat|gzcat", READ).takes(Paths).options("fhLqv --force --license --quiet --verbose"),
    row("bzcat|bz2cat", READ).takes(Paths).options("sqvf --small --quiet --verbose --force"),
    row("xzcat|lzcat", READ).takes(Paths).options("fqvT:M: --force --quiet --verbose --threads= --memory= --no-warn"),
    row("lz4cat|zstdcat", READ).takes(Paths).options("fqvM: --force --quiet --verbose --memory=").when(&[("-o --output-dir-flat --output-dir-mirror --patch-from --rm", OVERWRITE)]),
    row("zless|zmore|bzless|bzmore|xzless|xzmore", READ).takes(Paths).options("NSRFXnir"),
    row("htmlq", READ).takes(Paths).options("a:btpr:wf:B:iV --attribute= --base= --detect-base --pretty --text --remove-nodes= --ignore-whitespace --filename=").when(&[("-o --output", OVERWRITE)]),
    row("base64|base32|basenc", READ).takes(Paths).options("diDenw:b: --copyright --encode --decode --ignore-garbage --wrap= --base64 --base64url --base32 --base32hex --base16 --base2msbf --base2lsbf --z85").when(&[("-o --output", OVERWRITE)]),
    row("nm", READ).takes(Paths).options("ABCDPSUVWXaf:ghlnoprst:uv --debug-syms --defined-only --demangle? --dynamic --extern-only --format= --ifunc-chars= --inlines --line-numbers --no-demangle --no-recurse-limit --no-recursion-limit --no-sort --no-weak --numeric-sort --portability --print-armap --print-file-name --print-size --radix= --recurse-limit --recursion-limit --reverse-sort --size-sort --special-syms --synthetic --target= --undefined-only --unicode= --with-symbol-versions --without-symbol-versions").when(&[("--plugin", RUN)]).shaped(&[("@*", UNKNOWN)]),
    row("size", READ).takes(Paths).options("ABGHVdfhotvx --common --format= --radix= --target= --totals").when(&[("--plugin", RUN)]).shaped(&[("@*", UNKNOWN)]),
    row("objdump", READ).takes(Paths).options("CDFGHLM:P:RSTU;VW;ab:defghj:lm:prstwxz --adjust-vma= --all-headers --architecture= --archive-header --ctf? --debugging --debugging-tags --demangle? --disassemble-all --disassemble-zeroes --disassemble= --disassembler-color= --disassembler-options= --dwarf-check --dwarf-depth= --dwarf-start= --dwarf? --dynamic-reloc --dynamic-syms --endian= --file-headers --file-offsets --file-start-context --full-contents --headers --insn-width= --line-numbers --no-addresses --no-recurse-limit --no-recursion-limit --no-show-raw-insn --prefix-addresses --prefix-strip= --prefix= --private-headers --private= --process-links --recurse-limit --recursion-limit --reloc --section-headers --section= --sframe? --show-all-symbols --show-raw-insn --source --source-comment? --special-syms --stabs --start-address= --stop-address= --syms --target= --unicode= --visualize-jumps? --wide -M=").when(&[("--plugin", RUN)]).shaped(&[("@*", UNKNOWN)]),
    row("readelf", READ).takes(Paths).options("ACDHILPR:STU;VWacdeghlnp:rstuvw;x:z --all --arch-specific --archive-index --ctf-parent= --ctf-strings= --ctf-symbols= --ctf? --debug-dump? --decompress --demangle? --dwarf-depth= --dwarf-start= --dyn-syms --dynamic --enable-checks --file-header --headers --hex-dump= --histogram --lint --lto-syms --no-demangle --no-recurse-limit --no-recursion-limit --notes --process-links --program-headers --quiet --recurse-limit --recursion-limit --relocated-dump= --relocs --section-details --section-groups --section-headers --sections --segments --silent-truncation --string-dump= --sym-base= --symbols --syms --unicode= --unwind --use-dynamic --version-info --wide").shaped(&[("@*", UNKNOWN)]),
    row("strings", READ).takes(Paths).options("T:ade:fn:ost:vwU: --all --bytes= --data --encoding= --include-all-whitespace --output-separator= --print-file-name --radix= --target= --unicode=").shaped(&[("@*", UNKNOWN)]),
    row("addr2line|c++filt", READ).takes(Paths).options("aefijpsbCrR --addresses --exe= --functions --inlines --pretty-print --basenames --demangle? --section= --no-strip-underscore --strip-underscore --types --format= nt").shaped(&[("@*", UNKNOWN)]),
    row("otool", READ).takes(Paths).options("afhlLDtdorSTMRIHGvVcXmqQjP -arch= -s="),
    row("xmllint", READ)
        .takes(Paths)
        .single_dash()
        .valued("-xpath -schema -relaxng -schematron -dtdvalid -dtdvalidfpi -encode -pattern -pretty -maxmem")
        .only("-noout -format -recover -noblanks -nonet -valid -html -huge -c14n -nowarning -quiet -stream -nsclean -nocdata -dropdtd")
        .when(&[("-o -output", OVERWRITE), ("-shell", RUN), ("-noent -load-trace -path -catalogs -xinclude", UNKNOWN)]),
    row("tr|gtr", READ).options("Ccdst --complement --delete --squeeze-repeats --truncate-set1"),
    row("iconv", READ).takes(Paths).options("Vcf:lst: --from-code= --list --silent --to-code= --verbose").when(&[("-o --output", OVERWRITE)]),
    row("sort|gsort", READ)
        .takes(Paths)
        .options("MRS:Vbdfghik:mnrst:uz --batch-size= --buffer-size= --debug --dictionary-order --field-separator= --files0-from= --general-numeric-sort --human-numeric-sort --ignore-case --ignore-leading-blanks --ignore-nonprinting --key= --merge --month-sort --numeric-sort --parallel= --random-sort --random-source= --reverse --sort= --stable --unique --version-sort --zero-terminated cC --check?")
        .valued("-o --output -T --temporary-directory --compress-program")
        .when(&[("-o --output", OVERWRITE), ("--compress-program", RUN), ("-T --temporary-directory", UNKNOWN)]),
    row("uniq|guniq", READ).takes(Paths).options("Dcdf:is:uw:z --all-repeated? --check-chars= --count --group? --ignore-case --repeated --skip-chars= --skip-fields= --unique --zero-terminated").beyond(1, OVERWRITE, ""),
    row("shuf|gshuf", READ).takes(Paths).options("ei:n:rz --echo --head-count= --input-range= --random-source= --repeat --zero-terminated").valued("-o --output").when(&[("-o --output", OVERWRITE)]),
    row("diff|colordiff|zdiff|bzdiff|xzdiff|gdiff", READ).takes(Paths).options("BC:D:EF:I:NS:TU:W:X:Zabc;deinpqrstu;vwx:y --GTYPE-group-format= --LTYPE-line-format= --brief --color? --context? --ed --exclude-from= --exclude= --expand-tabs --from-file= --horizon-lines= --ifdef= --ignore-all-space --ignore-blank-lines --ignore-case --ignore-file-name-case --ignore-matching-lines= --ignore-space-change --ignore-tab-expansion --ignore-trailing-space --initial-tab --label= --left-column --line-format= --minimal --new-file --no-dereference --no-ignore-file-name-case --normal --palette= --rcs --recursive --report-identical-files --show-c-function --show-function-line= --side-by-side --speed-large-files --starting-file= --strip-trailing-cr --suppress-blank-empty --suppress-common-lines --tabsize= --text --to-file= --unidirectional-new-file --unified? --width=").when(&[("-l --paginate", RUN)]),
    row("zcmp|bzcmp|xzcmp|lzcmp", READ).takes(Paths).options("bi:ln:sv --bytes= --ignore-initial= --print-bytes --quiet --silent --verbose"),
    row("diff3", READ).takes(Paths).options("3AEL:TXaeimvx --easy-only --ed --initial-tab --label= --merge --overlap-only --show-all --show-overlap --strip-trailing-cr --text").valued("--diff-program").when(&[("--diff-program", RUN)]),
    row("sdiff", READ).takes(Paths).options("BEHI:WZabdilstvw: --expand-tabs --ignore-all-space --ignore-blank-lines --ignore-case --ignore-matching-lines= --ignore-space-change --ignore-tab-expansion --ignore-trailing-space --left-column --minimal --speed-large-files --strip-trailing-cr --suppress-common-lines --tabsize= --text --width=").valued("-o --output --diff-program").when(&[("-o --output", OVERWRITE), ("--diff-program", RUN)]),
    row("wdiff|dwdiff", READ).takes(Paths).options("123cdhilnpstvw:x:y:z:C:D:L: --avoid-wraps --ignore-case --less-mode --no-common --no-deleted --no-inserted --printer --statistics --terminal --start-delete= --end-delete= --start-insert= --end-insert= --punctuation --color? --line-numbers? --context= --delimiters= --white-space=").when(&[("-a --auto-pager --profile --diff-input", RUN)]),
    row("difft", READ).takes(Paths).options("--color= --display= --width= --tab-width= --language= --list-languages --check-only --ignore-comments --skip-unchanged --context= --background= --syntax-highlight= --byte-limit= --graph-limit= --missing-as-empty --exit-code --strip-cr= --override= --sort-paths"),
    row("delta", READ).takes(Paths).options("ns --side-by-side --line-numbers --dark --light --navigate --no-gitconfig --raw --color-only --diff-so-fancy --diff-highlight --hyperlinks --keep-plus-minus-markers --width= --tabs= --syntax-theme= --list-languages --list-syntax-themes --show-config --show-syntax-themes --show-themes --show-colors --paging@").when(&[("--pager --config", RUN)]),
    row("diffstat|icdiff", READ).takes(Paths).options("bcCdEKklmp:qrsStuvwf:n:N:D:H:L:W:U: --cols= --highlight --line-numbers --numlines= --recursive --show-all-spaces --tabsize= --truncate --unified= --whole-file --head= --label= --no-bold --no-headers --strip-trailing-cr --exclude-lines= --encoding= --color-map= --is-git-diff").when(&[("-o -e -R", UNKNOWN)]),
    row("xxd", READ).takes(Paths).options("abCdeEipPruUvc:g:l:s:o:n:R: -autoskip -bits -capitalize -cols= -decimal -groupsize= -include -len= -name= -offset= -plain -postscript -ps -revert -seek= -uppercase").beyond(1, OVERWRITE, "").when(&[("-r -revert --revert", WRITE)]),
    row("date|gdate", READ).reader(Reader::Date).valued("-s --set -f -d -r -v").when(&[("-s --set", SERVICE)]),
    row("hostname|domainname|nisdomainname|dnsdomainname|ypdomainname", READ).beyond(0, SERVICE, "").options("AIadfisy --alias --all-fqdns --all-ip-addresses --domain --fqdn --ip-address --long --short --yp --nis").when(&[("-F --file -b --boot", SERVICE)]),
    row("hostid|zdump", READ).options("vVc:t:i"),
    row("env", READ),
    row("which|gwhich", READ).takes(Names).options("as --all --skip-dot --skip-tilde --skip-alias --skip-functions --show-dot --show-tilde --tty-only"),
    row("whereis", READ).takes(Names).options("blmsufB:M:S:gt"),
    row("type", READ).takes(Names).options("afptP"),
    row("whatis|apropos", READ).options("L:M:Vadelm:rs:vw --and --debug --exact --locale= --long --manpath= --regex --section= --sections= --systems= --verbose --wildcard").when(&[("-C --config-file", UNKNOWN)]),
    row("where|whence", READ).options("acmpsvwxf"),
    row("locate|mlocate|plocate|slocate|glocate", READ).takes(Names).options("0Abcd:eil:Ln:Npqr:Sw --all --basename --count --database= --existing --ignore-case --limit= --null --literal --transliterate --regexp= --regex --statistics --wholename --quiet --follow --nofollow --non-existing --max-database-age= --print"),
    row("man|info", READ)
        .options("afkwWs:S:e:iIdn:K --all --whatis --apropos --where --path --location --sections= --extension= --ignore-case --match-case --regex --wildcard --names-only --global-apropos --no-hyphenation --nh --no-justification --nj --locale= --no-subpages --index-search= --node= --subnodes --show-options --where-cat --location-cat")
        .when(&[("-P --pager -H --html -l --local-file -C --config-file -B --browser -o --output --dribble --restore --init-file -X --gxditview -p --preprocessor -T --troff-device -t --troff -Z --ditroff -r --prompt -M --manpath -m --systems -R --recode -E --encoding", RUN)]),
    row("help", READ).options("dms"),
    row("clear|reset|tabs|dircolors", READ).options("xT:bcp --sh --csh --bourne-shell --c-shell --print-database --print-ls-colors"),
    row("infocmp|toe", READ).options("01DEFGQ:TUVWacdefgilnpqs;tv:w:x uhas").takes(Names),
    row("tldr|cheat", READ).only("-v --version -l --list -p --platform -L --language --raw -m --markdown -s --search -c --color").valued("-p -L -s --platform --language --search").when(&[("-u --update --update_cache --clear-cache --seed-config --gen-config", WRITE), ("-e --edit --edit-patch --edit-page --rm", RUN)]),
    row("less|more|most|pg", READ).takes(Paths).options("NSRFXnirKEesmMqfdlupcwgGIJLQUWa --LINE-NUMBERS --chop-long-lines --RAW-CONTROL-CHARS --raw-control-chars --quit-if-one-screen --no-init --IGNORE-CASE --ignore-case --squeeze-blank-lines --quiet --QUIET --use-color --lines=").when(&[("-o -O --log-file --LOG-FILE -k --lesskey-file --lesskey-src --lesskey-content -t --tag -T --tag-file -p --pattern -P --prompt", RUN)]).shaped(&[("+*", UNKNOWN)]),
    row("bat|batcat", READ).takes(Paths).options("AH:LVdfhl:m:npr:u --acknowledgements --color= --decorations= --diagnostic --diff --diff-context= --file-name= --force-colorization --highlight-line= --ignored-suffix= --italic-text= --language= --line-range= --list-languages --list-themes --map-syntax= --number --plain --show-all --style= --tabs= --terminal-width= --theme= --unbuffered --wrap= PSs --theme-dark= --theme-light= --squeeze-blank --squeeze-limit= --strip-ansi= --no-paging --nonprintable-notation= --binary= --chop-long-lines --paging@ --config-dir --cache-dir --config-file")
        .when(&[("--pager --lessopen", RUN), ("--build --clear --generate-config-file", WRITE)]).shaped(&[("cache", UNKNOWN)]),
    row("glow|mdcat|mcat|treemd|presenterm", READ).takes(Paths).options("ls:w:anpc --style= --width= --all --line-numbers --preserve-new-lines --local --columns= --fail --ansi --no-colour").when(&[("-t --tui -p --pager --config --config-file --paginate -x -X --enable-snippet-execution", UNKNOWN)]),
    row("hexyl", READ).takes(Paths).options("n:c:s:vo:gCPb: --length= --bytes= --skip= --no-squeezing --color= --border= --plain --no-characters --characters --character-table= --no-position --display-offset= --panels= --group-size= --base= --terminal-width= --print-color-table --block-size= --little-endian --endianness="),
    row("tokei|scc|loc|onefetch", READ).takes(Paths).options("e:fvlst:o@C:c:n:w:izx:aMpN --exclude= --files --verbose --languages --sort= --rsort= --type= --types= --hidden --no-ignore --no-ignore-parent --no-ignore-vcs --num-format= --compact --columns= --streaming= --output@ --by-file --no-cocomo --no-complexity --no-duplicates --include-ext= --exclude-dir= --exclude-ext= --wide --not-match= --ci --no-art --no-bots --number-of-authors= --email --iso-time --show-logo= --languages"),
    row("cloc", READ).takes(Paths).options("--diff --count-and-diff --by-file --by-file-by-lang --by-percent= --exclude-dir= --exclude-ext= --exclude-lang= --include-lang= --include-ext= --fullpath --match-d= --match-f= --not-match-d= --not-match-f= --json --csv --md --xml --yaml --quiet --hide-rate --progress-rate= --show-ext? --show-lang? --skip-uniqueness --sum-one --timeout= --max-file-size= --csv-delimiter= --no3 --3 --autoconf --docstring-as-code --force-lang= --lang-no-ext= --processes= --follow-links --skip-win-hidden --original-dir"),
    row("pygmentize", READ).takes(Paths).only("-l -g -f -O -P -s -N -C -L -H").valued("-l -f -O -P -N -C -H").when(&[("-o --output --outdir -d -B --batch-recursive", OVERWRITE), ("-x --config-file --plug-in", RUN)]).shaped(&[("-O*=*outfile* -P*outfile*", UNKNOWN)]),
    row("tree|tre", READ)
        .takes(Names)
        .options("ACDFH:I:JL:NP:QST:UXacdfghilnpqrstuvx --charset? --device --dirsfirst --du --fflinks --filelimit? --filesfirst --fromfile --gitfile? --gitignore --hintro? --houtro? --ignore-case --info= --infofile? --inodes --matchdirs --metafirst --nolinks --noreport --prune --si --sort? --timefmt? al:d --color= --directories --exclude= --limit= --json --all --simple --portable")
        .when(&[("-o --output", OVERWRITE), ("-R", UNKNOWN)]),
    row("grep|egrep|fgrep|ggrep", READ).takes(PatternThenPaths).options("A:B:C:D:EFGHILPRTUVZabcd:e:f:hilm:noqrsvwxz --after-context= --basic-regexp --before-context= --binary --binary-files= --byte-offset --color? --colour? --context= --count --dereference-recursive --devices= --directories= --exclude-dir= --exclude-from= --exclude= --extended-regexp --file= --files-with-matches --files-without-match --fixed-strings --group-separator= --ignore-case --include= --initial-tab --invert-match --label= --line-buffered --line-number --line-regexp --max-count= --no-filename --no-group-separator --no-ignore-case --no-messages --null --null-data --only-matching --perl-regexp --quiet --recursive --regexp= --silent --text --with-filename --word-regexp yO:"),
    row("zgrep|zegrep|zfgrep|bzgrep|xzgrep|zipgrep|lzgrep", READ).takes(PatternThenPaths).options("A:B:C:D:EFGHILPTUVZabcd:e:hilm:noqsvwxz --after-context= --basic-regexp --before-context= --binary --binary-files= --byte-offset --color? --colour? --context= --count --devices= --directories= --exclude-dir= --exclude-from= --exclude= --extended-regexp --files-with-matches --files-without-match --fixed-strings --group-separator= --ignore-case --include= --initial-tab --invert-match --label= --line-buffered --line-number --line-regexp --max-count= --no-filename --no-group-separator --no-ignore-case --no-messages --null --null-data --only-matching --perl-regexp --quiet --regexp= --silent --text --with-filename --word-regexp"),
    row("rg|rga", READ)
        .takes(PatternThenPaths)
        .options("0A:B:C:E:FHILM:NPST:Uabce:f:g:ij:lm:nopqr:st:uvwx --after-context= --auto-hybrid-regex --before-context= --binary --block-buffered --byte-offset --case-sensitive --color= --colors= --column --context-separator= --context= --crlf --debug --dfa-size-limit= --encoding= --engine= --field-context-separator= --field-match-separator= --file= --files --fixed-strings --follow --glob-case-insensitive --glob= --heading --iglob= --ignore-case --ignore-file-case-insensitive --ignore-file= --include-zero --invert-match --json --line-buffered --line-number --line-regexp --max-columns-preview --max-columns= --max-count= --max-depth= --max-filesize= --mmap --multiline-dotall --no-config --no-filename --no-heading --no-ignore --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-messages --no-ignore-parent --no-ignore-vcs --no-line-number --no-messages --no-mmap --no-pcre2-unicode --no-require-git --no-unicode --null --null-data --one-file-system --only-matching --passthru --path-separator= --pcre2 --pcre2-version --pre-glob= --pretty --quiet --regex-size-limit= --regexp= --replace= --smart-case --sort= --sortr= --stats --text --threads= --trim --type-add= --type-clear= --type-list --type-not= --type= --unrestricted --vimgrep --with-filename --word-regexp .d:c --count --count-matches --files-with-matches --files-without-match --multiline --hidden --no-hidden --no-ignore-dot --max-depth= --hyperlink-format= --generate= --no-pre --stop-on-nonmatch --passthrough --no-context-separator --field-context-separator= --null-data")
        .when(&[("--pre --hostname-bin --rga-adapters --rga-config-file", RUN), ("-z --search-zip", UNKNOWN)]),
    row("ag", READ).takes(PatternThenPaths).options("A:B:C:DFG:HLQRSUW:acfg:hiklm:nop:qrstuvwz0 --ackmate --after? --before? --break --nobreak --color --nocolor --color-line-number= --color-match= --color-path= --column --context? --count --debug --depth= --filename --nofilename --file-search-regex= --files-with-matches --files-without-matches --fixed-strings --follow --group --nogroup --hidden --ignore= --ignore-case --ignore-dir= --invert-match --literal --max-count= --multiline --nomultiline --null --numbers --nonumbers --one-device --only-matching --parallel --path-to-ignore= --print-long-lines --print-all-files --recurse --norecurse --search-binary --search-files --silent --skip-vcs-ignores --smart-case --stats --stats-only --case-sensitive --unrestricted --vimgrep --width= --word-regexp --all-text --all-types --list-file-types").when(&[("--pager", RUN), ("-z --search-zip", UNKNOWN)]),
    row("ack|ack-grep", READ).takes(PatternThenPaths).options("1A:B:C:HLQRchiklm:nopqsvwxfg:t:T: --after-context= --before-context= --context= --color --nocolor --column --nocolumn --count --filename --nofilename --files-from= --files-with-matches --files-without-matches --follow --nofollow --group --nogroup --heading --noheading --break --nobreak --ignore-case --no-ignore-case --ignore-dir= --ignore-file= --invert-match --known-types --literal --max-count= --match= --no-recurse --recurse --passthru --print0 --proximate= --range-start= --range-end= --show-types --smart-case --sort-files --type= --word-regexp --dump --help-types --noenv --underline --nounderline").when(&[("--pager --output --ackrc --env --man --bar --cathy --thpppt", RUN)]),
    row("ugrep|ug|pdfgrep|sgrep|agrep", READ).takes(PatternThenPaths).options("A:B:C:EFGHILPRUXZabcde:f:g:hijklm:noqrsvwxyt:M:O:K:J: --recursive --ignore-case --count --page-number? --max-count= --context= --include= --exclude= --cache --password= --null --files-with-matches --no-ignore-case --fixed-strings --word-regexp --line-number --column --color? --colour? --pretty --hidden --fuzzy? --bool --not --and --or").when(&[("--filter --pager --view --query -Q --config --save-config --format-begin", RUN), ("-z --decompress", UNKNOWN)]),
    row("fd|fdfind", READ)
        .takes(Names)
        .options("01E:FHILS:Vac:d:e:ghij:lpqst:u --absolute-path --base-directory= --batch-size= --case-sensitive --changed-before= --changed-within= --color= --exact-depth= --exclude= --extension= --fixed-strings --follow --full-path --glob --hidden --ignore-case --ignore-file= --list-details --max-depth= --max-results= --min-depth= --mount --no-ignore --no-ignore-parent --no-ignore-vcs --one-file-system --path-separator= --print0 --prune --quiet --regex --search-path= --show-errors --size= --strip-cwd-prefix --threads= --type= --unrestricted --xdev o:C: --owner= --base-directory= --format= --min-depth= --and= --ignore --no-hidden --relative-path --ignore-vcs --ignore-contain= --no-require-git --no-global-ignore-file --hyperlink? --strip-cwd-prefix? --print0 --max-one-result")
        .reader(Reader::Fd)
        .when(&[("-x --exec -X --exec-batch", RUN)]),
    row("find|gfind|bfs", READ).takes(Names).reader(Reader::Find),
    row("sed|gsed", READ).takes(Paths).reader(Reader::Sed),
    row("awk|gawk|mawk|nawk|original-awk", READ).takes(Paths).reader(Reader::Awk),
    row("jq|gojq|jaq", READ).takes(PatternThenPaths).reader(Reader::Jq).when(&[("-i --in-place", WRITE)]),
    row("yq|xq|tomlq", READ)
        .takes(PatternThenPaths)
        .subs()
        .other(READ)
        .options("rjcCMnseNPpo@p@I:vx:t0 --raw-output --colors --no-colors --null-input --exit-status --no-doc --prettyPrint --pretty-print --output-format@ --input-format@ --indent= --unwrapScalar? --xml-attribute-prefix= --verbose --compact-output --slurp --sort-keys --tojson --join-output --arg= --argjson= --front-matter@ --header-preprocess --yaml-output --yaml-roundtrip --width= --null-separator --string-interpolation --csv-auto-parse --csv-separator= --tsv-auto-parse --lua-globals --lua-prefix= --lua-suffix= --lua-unquoted --properties-separator= --properties-array-brackets --xml-content-name= --xml-raw-token --xml-strict-mode --xpath=")
        .when(&[("-i --in-place --inplace -s --split-exp -f --from-file --split-exp-file -y -Y --prettier --nextscript --shell --load", WRITE)])
        .shaped(&[("*load* *env(* *$ENV* *input_filename* *system(* *strload*", UNKNOWN)]),
    row("yq eval|yq e|yq eval-all|yq ea", READ)
        .takes(PatternThenPaths)
        .options("rjcCMneNPo@p@I:v0 --raw-output --colors --no-colors --null-input --exit-status --no-doc --prettyPrint --output-format@ --input-format@ --indent= --unwrapScalar? --tojson --verbose --front-matter@ --header-preprocess")
        .when(&[("-i --inplace -s --split-exp -f --from-file --expression --split-exp-file", WRITE)])
        .shaped(&[("*load* *env(* *strload*", UNKNOWN)]),
    row("pup|xpath|gron|json_pp|jp|jo|yj|json5", READ).takes(PatternThenPaths).options("cpnf:i:l:e:qskmvr:w:t:S --color --plain --number --charset= --file= --indent= --limit= --ungron --colorize --monochrome --stream --no-sort --json --insecure --values --validate --quiet").when(&[("-o --output --outfile -O --in-place -s --shell --write --out", WRITE)]),
    row("csvcut|csvlook|csvstat|csvgrep|csvsort|csvjson|csvformat|csvjoin|csvstack|in2csv|xsv|tsv-filter|tsv-select|tsv-summarize|tsv-uniq", READ).takes(PatternThenPaths)
        .options("d:tq:u:be:z:Sp:HvlxC:c:nm:r:ik:y:jDUTQBa:PEN --delimiter= --tabs --quotechar= --quoting= --no-doublequote --encoding= --maxfieldsize= --skipinitialspace --no-header-row --linenumbers --zero --columns= --not-columns= --names --delete-empty-rows --max-rows= --max-columns= --max-column-width= --max-precision= --regex= --match= --invert-match --any-match --reverse --ignore-case --no-inference --date-format= --datetime-format= --snifflimit= --csv --json --count --type --nulls --unique --min --max --sum --mean --median --stdev --len --freq --freq-count= --indent= --key= --lat= --lon= --stream --out-delimiter= --out-tabs --icsv --ojson --ijson --ocsv --opprint --ixtab --oxtab --itsv --otsv --c2p --c2j --c2t --t2c --j2c --from= --left --right --outer --groups= --group-name= --filenames --header --fields= --exclude= --dry-run")
        .when(&[("-o --output --outfile --in-place --files --tee --split --prepipe --prepipex --load --mload", UNKNOWN)])
        .shaped(&[("split tee put filter* *system* partition index fixlengths sqlp to", UNKNOWN)]),
    // Some of its commands run a script or a program for each line, others write beside their input.
    row("qsv", UNKNOWN).subs().other(UNKNOWN),
    row("qsv headers|qsv select|qsv slice|qsv table|qsv flatten|qsv search|qsv input|qsv fmt|qsv reverse|qsv cat|qsv behead", READ).takes(Paths).options("d:nijlps:e:c:v --delimiter= --no-headers --ignore-case --just-names --intersect --start= --end= --len= --index= --invert-match --select= --width= --pad= --condense=").when(&[("-o --output", OVERWRITE)]),
    row("[|test", READ).takes(Names).reader(Reader::Test),
    // Shell builtins.
    row("cd|pushd|popd|dirs|exit|return|break|continue|shift|times|wait|jobs|umask|ulimit|caller|logout|getopts|hash", READ).options("LPeHSabcdefiklmnpqrstuvwRT").reader(Reader::Builtin),
    row("set|shopt|export|declare|typeset|local|readonly|unset|read|mapfile|readarray|let|alias|unalias|history|trap|setopt|unsetopt|print", READ).reader(Reader::Builtin),
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
    row("7z|7za|7zr", READ).subs().other(WRITE),
    // Every switch is a letter with what is written to it: `-slt`, `-pSECRET`, `-mmt=4`.
    row("7z l|7z t|7z i|7z b|7z h|7za l|7za t|7za i|7za b|7za h|7zr l|7zr t|7zr i|7zz l|7zz t|7zz i|7zz b|7zz h", READ).takes(Paths).options("a;b;i;m;p;r;s;t;u;x;y;"),
    row("ar", WRITE).subs().other(WRITE),
    row("ar t|ar tv|ar p", READ).takes(Paths).when(&[("--plugin", RUN), ("--output", OVERWRITE)]),
    // Programs that take over the terminal or run commands typed into them.
    row("ed|ex|vi|vim|nvim|nano|emacs|emacsclient|pico|joe|micro|helix|hx|code|subl|kate|gedit|view|vimdiff", RUN),
    row("tmux", RUN).subs().other(RUN).valued("-L -S").when(&[("-f -c -T", RUN)]),
    // An argument that ends with `;` ends the command: another follows. `#(…)` in a format is run.
    row("tmux ls|tmux list-sessions|tmux lsw|tmux list-windows|tmux lsp|tmux list-panes|tmux lsc|tmux list-clients|tmux lsk|tmux list-keys|tmux lscm|tmux list-commands|tmux info|tmux show-options|tmux show|tmux showw|tmux show-window-options|tmux show-environment|tmux showenv|tmux has-session|tmux has|tmux list-buffers|tmux lsb|tmux show-buffer|tmux showb|tmux show-hooks", READ)
        .options("aF:f:t:gqswpvAN1P:T:b:")
        .shaped(&[("*; *#(*", RUN)]),
    row("expect|screen|zellij|dialog|whiptail|rlwrap|unbuffer|rsh|rlogin", RUN),
    row("socat|socat1", LISTEN),
    row("telnet|ftp|sftp|tftp|lftp|ncftp", RUN),
    row("nc|ncat|netcat", LISTEN).valued("-w -p -s -x -X -q -i").when(&[("-z -v -n -w -4 -6 -u", FETCH), ("-e -c --exec --sh-exec -l --listen -k", LISTEN)]).reader(Reader::Netcat),
    row("kill|pkill|killall|skill|xkill", SIGNAL).reader(Reader::Kill),
    row("renice", SIGNAL),
    row("shutdown|reboot|halt|poweroff|init|telinit|systemd-run|kexec", KILL),
    row("mkfs|cfdisk|wipefs|mkswap|swapoff|badblocks|blkdiscard|debugfs|e2fsck|fsck|resize2fs|umount|eject|mkfs.ext4|mkfs.ext3|mkfs.ext2|mkfs.xfs|mkfs.vfat|mkfs.btrfs|mkfs.ntfs|mke2fs|mknod|flashrom|sg_format|partprobe|dump|restore|lvremove|lvcreate|lvextend|lvreduce|lvresize|lvconvert|lvchange|lvrename|vgremove|vgcreate|vgextend|vgreduce|vgchange|vgrename|pvremove|pvcreate|pvmove|pvresize|pvchange|growpart|xfs_growfs|e2label|xfs_admin|multipath|ledctl|sg_raw|tapeinfo|mt|growisofs|cdrecord|wodim", DEVICE),
    row("fdisk|sfdisk|gdisk|sgdisk|parted|losetup|swapon|tune2fs|hdparm|mdadm|mount|blockdev", DEVICE).begins(SHOWS_DISK),
    row("zpool|zfs|btrfs|hdiutil|diskutil|nvme|cryptsetup|dmsetup", DEVICE).verbs(READ, DEVICE, DEVICE).other(DEVICE),
    row("btrfs subvolume|btrfs su", DEVICE).subs().other(DEVICE),
    // A file that it is asked about is opened for writing.
    row("btrfs subvolume show|btrfs su sh", UNKNOWN),
    row("lvs|vgs|pvs|lvscan|vgscan|pvscan|lvdisplay|vgdisplay|pvdisplay|isosize|filefrag|findfs|fincore|dumpe2fs|e2freefrag|xfs_info|btrfs-find-root", READ).options("acChmnoO:qsvPSu:t --all --units= --noheadings --options= --segments --separator= --sort= --verbose --aligned --nameprefixes --nosuffix --readonly --reportformat= --rows --unbuffered --select= --colon --columns --maps --short o:xebkB:"),
];
