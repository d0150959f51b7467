//! git: porcelain, plumbing and their sub-commands.

use crate::effect::{
    BUILD, DELETE, FETCH, LISTEN, OVERWRITE, PUBLISH, READ, REMOTE, REWRITE, RUN, SECRET, SYNC,
    UNKNOWN, WRITE,
};
use crate::row::{Reader, Row, Takes, row};

/// Options of everything that prints differences.
const DIFF: &[(&str, crate::effect::Does)] =
    &[("--output", OVERWRITE), ("--ext-diff --textconv --show-signature", RUN)];
/// What everything that shows commits and differences knows.
const LOG: &str = "B;C;DEFG:I:L:M;O:PRS:U:WX;abcgil:mpstuwz --abbrev-commit --abbrev? --after= --all --all-match --alternate-refs --ancestry-path? --anchored= --author-date-order --author= --basic-regexp --before= --binary --bisect --boundary --branches? --break-rewrites? --cc --check --cherry --cherry-mark --cherry-pick --children --clear-decorations --color-moved-ws= --color-moved? --color-words? --color? --combined-all-paths --committer= --compact-summary --cumulative --date-order --date= --decorate-refs-exclude= --decorate? --dense --diff-algorithm= --diff-filter= --diff-merges= --dirstat-by-file? --dirstat? --do-walk --dst-prefix= --encoding= --exclude-first-parent-only --exclude-hidden= --exclude= --extended-regexp --find-copies-harder --find-copies? --find-object= --find-renames? --first-parent --fixed-strings --follow --format= --full-diff --full-index --function-context --glob= --graph --grep-reflog= --grep= --histogram --ignore-all-space --ignore-blank-lines --ignore-cr-at-eol --ignore-matching-lines= --ignore-missing --ignore-space-at-eol --ignore-space-change --ignore-submodules? --indent-heuristic --inter-hunk-context= --invert-grep --irreversible-delete --ita-invisible-in-index --left-only --line-prefix= --log-size --max-parents= --merge --merges --min-parents= --minimal --name-only --name-status --no-abbrev-commit --no-color --no-color-moved --no-color-moved-ws --no-decorate? --no-diff-merges --no-expand-tabs --no-ext-diff --no-indent-heuristic --no-max-parents --no-merges --no-notes --no-patch --no-prefix --no-relative --no-renames --no-textconv --no-walk? --not --notes? --numstat --oneline --output-indicator-context= --output-indicator-new= --output-indicator-old= --parents --patch --patch-with-raw --patch-with-stat --patience --perl-regexp --pickaxe-all --pickaxe-regex --pretty? --raw --reflog --regexp-ignore-case --relative-date --relative? --remerge-diff --remotes? --remove-empty --reverse --right-only --rotate-to= --shortstat --show-linear-break? --show-notes? --show-pulls --simplify-by-decoration --simplify-merges --since-as-filter= --since= --single-worktree --skip-to= --skip= --source --sparse --src-prefix= --stat? --stdin --submodule? --summary --tags? --text --topo-order --unified= --until= --walk-reflogs --word-diff-regex= --word-diff? --ws-error-highlight= n:rvqy --max-count= --left-right --full-history --no-min-parents --expand-tabs? --decorate-refs= --count --quiet --no-ext-diff --no-index --exit-code --cached --staged --merge-base --no-show-signature --max-age= --min-age= --timestamp --header --objects --show-notes-by-default --no-standard-notes --mailmap --no-mailmap --use-mailmap --no-use-mailmap --root --no-commit-id --always --disk-usage? --in-commit-order --unpacked --verbose --no-abbrev --base --ours --theirs --max-depth= --trailer= --line-range= --creation-factor= --no-dual-color --left-only --right-only";

const GREP: &str = "A:B:EFGHILPWacf:hilm:nopqvwz --after-context= --all-match --and --basic-regexp --before-context= --break --cached --color? --column --count --exclude-standard --extended-regexp --files-with-matches --files-without-match --fixed-strings --full-name --function-context --heading --ignore-case --invert-match --line-number --max-count= --max-depth= --name-only --no-color --no-exclude-standard --no-index --no-recursive --no-textconv --not --null --only-matching --or --perl-regexp --quiet --recurse-submodules --recursive --show-function --text --threads= --untracked --word-regexp C:re:3 --context= --no-recurse-submodules --no-color --no-ext-grep";

pub(super) const ROWS: &[Row] = &[
    row("git", READ)
        .subs()
        .options("pP --no-pager --paginate --no-replace-objects --bare --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks --no-advice --no-lazy-fetch --html-path --man-path --info-path --list-cmds=")
        .valued("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source")
        .when(&[("-c --config-env --exec-path --git-dir --work-tree", RUN), ("--version", READ), ("--help", READ)]),
    // Looking.
    row("git log|git show|git diff|git diff-tree|git diff-index|git diff-files|git diff-pairs|git reflog show|git stash show|git rev-list|git whatchanged|git range-diff", READ)
        .takes(Takes::Paths)
        .options(LOG)
        .when(DIFF),
    row("git shortlog", READ).takes(Takes::Paths).options("EFPceginsw; --after= --all --all-match --alternate-refs --ancestry-path? --author= --basic-regexp --before= --bisect --boundary --branches? --cherry --cherry-mark --cherry-pick --committer= --date= --dense --email --exclude-first-parent-only --exclude-hidden= --exclude= --extended-regexp --first-parent --fixed-strings --format? --glob= --grep-reflog= --grep= --group= --ignore-missing --invert-grep --left-only --max-parents= --merge --merges --min-parents= --no-max-parents --no-merges --not --numbered --perl-regexp --reflog --regexp-ignore-case --remotes? --remove-empty --right-only --show-pulls --simplify-by-decoration --simplify-merges --since-as-filter= --since= --single-worktree --skip= --sparse --stdin --summary --tags? --until= --walk-reflogs n --left-right").when(DIFF),
    row("git status", READ).takes(Takes::Paths).options("bsu;vz --ahead-behind --branch --column? --find-renames? --ignore-submodules? --ignored? --long --no-ahead-behind --no-column --no-renames --porcelain? --renames --short --show-stash --untracked-files? --verbose"),
    row("git describe", READ).options("--abbrev= --all --always --broken? --candidates= --contains --debug --dirty? --exact-match --exclude= --first-parent --long --match= --tags"),
    row("git name-rev|git cherry|git show-branch", READ).options("vargxn --tags --refs= --exclude= --all --annotate-stdin --stdin --name-only --no-undefined --always --abbrev? --remotes --topo-order --date-order --sparse --more? --no-name --list --merge-base --independent --current --topics --reflog? --color? --no-color"),
    row("git version", READ).options("--build-options"),
    row("git var", READ).options("l").when(&[("-l", UNKNOWN)]),
    row("git count-objects", READ).options("vH --verbose --human-readable"),
    row("git check-ignore|git check-attr|git check-mailmap|git check-ref-format", READ).options("qvnza --quiet --verbose --stdin --non-matching --no-index --all --cached --source= --branch --normalize --allow-onelevel --no-allow-onelevel --refspec-pattern --print --mailmap-file= --mailmap-blob="),
    row("git column|git stripspace|git get-tar-commit-id|git patch-id|git fmt-merge-msg", READ).options("sc --command= --mode= --raw-mode= --width= --indent= --nl= --padding= --strip-comments --comment-lines --stable --unstable --verbatim --log? --no-log --message= --into-name= F:m: --file="),
    row("git blame|git annotate", READ).takes(Takes::Paths).options("C;L:M;S:bcefhlnpstw --abbrev= --color-by-age --color-lines --contents= --date= --encoding= --first-parent --ignore-rev= --ignore-revs-file= --incremental --line-porcelain --porcelain --reverse= --root --score-debug --show-email --show-name --show-number --show-stats n --since=").when(&[("--textconv", RUN)]),
    row("git ls-files", READ).takes(Takes::Paths).options("X:cdfikmostuvx:z --abbrev? --cached --debug --deduplicate --deleted --directory --eol --error-unmatch --exclude-from= --exclude-per-directory= --exclude-standard --exclude= --format= --full-name --ignored --killed --modified --no-empty-directory --others --recurse-submodules --sparse --stage --unmerged --with-tree= --resolve-undo"),
    row("git ls-tree", READ).options("dlrtz --abbrev? --format= --full-name --full-tree --long --name-only --name-status --object-only"),
    row("git rev-parse", READ).options("q --abbrev-ref? --absolute-git-dir --after= --all --before= --branches? --default= --disambiguate= --exclude-hidden= --exclude= --flags --git-common-dir --git-dir --git-path= --glob= --is-bare-repository --is-inside-git-dir --is-inside-work-tree --is-shallow-repository --keep-dashdash --local-env-vars --no-flags --no-revs --not --parseopt --path-format= --prefix= --quiet --remotes? --resolve-git-dir= --revs-only --shared-index-path --short? --show-cdup --show-object-format? --show-prefix --show-superproject-working-tree --show-toplevel --since= --sq --sq-quote --stop-at-non-option --stuck-long --symbolic --symbolic-full-name --tags? --until= --verify n --show-ref-format --bisect --git-dir"),
    row("git cat-file", READ).options("epstz --allow-unknown-type --batch-all-objects --batch-check? --batch-command? --batch? --buffer --follow-symlinks --path= --unordered --mailmap --no-mailmap --use-mailmap").takes(Takes::Paths).when(&[("--textconv --filters", RUN)]),
    row("git for-each-ref|git show-ref", READ).options("--color? --contains? --count= --format= --ignore-case --merged? --no-contains? --no-merged? --points-at= --sort= dqsr --head --heads --branches --tags --dereference --hash? --verify --exists --abbrev? --quiet --exclude= --exclude-existing? --include-root-refs --stdin --omit-empty --perl --python --tcl --shell"),
    row("git merge-base", READ).options("a --all --octopus --independent --is-ancestor --fork-point"),
    row("git verify-commit|git verify-tag", READ).options("v --verbose --raw --format="),
    row("git verify-pack|git show-index|git last-modified", READ).options("vs --verbose --stat-only --object-format= --max-depth= rtz"),
    row("git help", READ).options("agcumv --all --guides --config --man --no-verbose --verbose --user-interfaces --developer-interfaces --no-external-commands --no-aliases").when(&[("-w --web -i --info", RUN)]),
    row("git merge-tree", WRITE),
    row("git grep", READ)
        .takes(Takes::PatternThenPaths)
        .options(GREP)
        .when(&[("-O --open-files-in-pager", RUN), ("--textconv --ext-grep", RUN)]),
    row("git ls-remote", FETCH).takes(Takes::Hosts).options("htbqo: --heads --branches --tags --refs --quiet --exit-code --get-url --symref --sort= --server-option= --head").when(&[("-u --upload-pack --exec", RUN)]),
    row("git branch", READ)
        .options("avrlqi --all --abbrev? --no-abbrev --color? --no-color --column? --no-column --list --remotes --show-current --verbose --quiet --sort= --format= --contains= --no-contains= --merged= --no-merged= --points-at= --ignore-case --omit-empty")
        .valued("-u --set-upstream-to")
        .beyond(0, WRITE, "--list -l --contains --no-contains --merged --no-merged --points-at -a --all -r --remotes --show-current")
        .when(&[
            ("-D", REWRITE),
            ("-d --delete", DELETE),
            ("-m --move -c --copy -u --set-upstream-to --unset-upstream --track -t --edit-description --create-reflog", WRITE),
            ("-f --force -M -C", REWRITE),
        ]),
    row("git tag", READ)
        .options("ln;iv --list --sort= --format= --contains= --no-contains= --merged= --no-merged= --points-at= --color? --column? --no-column --ignore-case --verify --omit-empty")
        .valued("-m -F -u")
        .beyond(0, WRITE, "--list -l --contains --no-contains --merged --no-merged --points-at -v --verify")
        .when(&[("-d --delete", DELETE), ("-f --force", REWRITE), ("-a --annotate -s --sign -m --message -F --file -e --edit -u --local-user", WRITE)]),
    row("git remote", READ).subs().options("v --verbose"),
    row("git remote show|git remote get-url", READ).options("nv --push --all").takes(Takes::Hosts),
    row("git remote add|git remote remove|git remote rm|git remote rename|git remote set-url|git remote set-head|git remote set-branches", WRITE),
    row("git remote prune|git remote update", SYNC),
    row("git config", READ).reader(Reader::GitConfig),
    row("git reflog", READ).subs().other(READ).options(LOG).when(DIFF),
    row("git reflog list|git reflog exists", READ),
    row("git reflog expire|git reflog delete|git reflog drop", REWRITE),
    row("git stash", WRITE).subs().when(&[("-u --include-untracked -a --all", WRITE)]),
    row("git stash list", READ).options(LOG).when(DIFF),
    row("git stash push|git stash save|git stash apply|git stash pop|git stash branch|git stash create|git stash store|git stash export|git stash import", WRITE),
    row("git stash drop|git stash clear", REWRITE),
    row("git worktree", READ).subs(),
    row("git worktree list", READ).options("vz --porcelain --verbose --expire="),
    row("git worktree add|git worktree move|git worktree lock|git worktree unlock|git worktree repair", WRITE).takes(Takes::Paths),
    row("git worktree remove|git worktree prune", DELETE).when(&[("-f --force", REWRITE)]),
    row("git notes", READ).subs().options("--ref="),
    row("git notes list|git notes show|git notes get-ref", READ),
    row("git notes add|git notes append|git notes copy|git notes edit|git notes merge|git notes remove|git notes prune", WRITE),
    row("git bisect", READ).subs(),
    row("git bisect log|git bisect terms", READ),
    row("git bisect start|git bisect good|git bisect bad|git bisect new|git bisect old|git bisect skip|git bisect reset|git bisect replay|git bisect next", WRITE),
    row("git bisect run|git bisect view|git bisect visualize", RUN),
    row("git submodule", READ).subs().options("q --quiet --cached"),
    row("git submodule status|git submodule summary", READ).options("n: --cached --recursive --quiet --files --summary-limit= --for-status"),
    row("git submodule add|git submodule init|git submodule update|git submodule sync|git submodule absorbgitdirs|git submodule set-url|git submodule set-branch", SYNC),
    row("git submodule deinit", DELETE).when(&[("-f --force", REWRITE)]),
    row("git submodule foreach", RUN),
    row("git sparse-checkout", READ).subs(),
    row("git sparse-checkout list", READ),
    row("git sparse-checkout init|git sparse-checkout set|git sparse-checkout add|git sparse-checkout reapply|git sparse-checkout disable", WRITE),
    row("git bundle", READ).subs(),
    row("git bundle verify|git bundle list-heads", READ).options("q --quiet").takes(Takes::Paths),
    row("git bundle create|git bundle unbundle", WRITE),
    row("git symbolic-ref", READ).options("q --quiet --short --recurse --no-recurse").beyond(1, WRITE, "").when(&[("-d --delete", DELETE), ("-m", WRITE)]),
    row("git fsck", READ).options("v --tags --root --unreachable --cache --no-reflogs --full --no-full --strict --verbose --progress --no-progress --connectivity-only --name-objects --no-name-objects --dangling --no-dangling").when(&[("--lost-found", WRITE)]),
    row("git archive", READ).takes(Takes::Text).options("lv --list --verbose --format= --prefix= --worktree-attributes --mtime= --add-file= --add-virtual-file=").valued("--remote --exec -o --output").when(&[("-o --output", OVERWRITE), ("--exec --remote", RUN)]),
    row("git hash-object", READ).takes(Takes::Paths).options("t: --stdin --stdin-paths --path= --literally").when(&[("--filters", RUN), ("-w", WRITE)]),
    row("git mktag|git mktree|git write-tree|git commit-tree|git commit-graph|git multi-pack-index|git unpack-file|git merge-file|git merge-index|git merge-one-file|git read-tree|git checkout-index|git update-index|git pack-refs|git update-server-info|git rerere|git index-pack|git pack-objects|git unpack-objects|git mailinfo|git mailsplit|git fast-import|git apply|git am|git add|git stage|git mv|git interpret-trailers", WRITE),
    row("git init", WRITE)
        .takes(Takes::Paths)
        .valued("-b --initial-branch --object-format --ref-format --separate-git-dir")
        .when(&[("--template", RUN)]),
    row("git commit", WRITE).valued("-m -F -C -c -t --message --file --author --date --fixup --squash").when(&[("--amend", REWRITE)]),
    row("git merge|git cherry-pick|git revert", WRITE).valued("-m -s -X -F --message").when(&[("-s --strategy", RUN)]),
    row("git rm", DELETE).takes(Takes::Paths).when(&[("-f --force", REWRITE)]).shaped(&[(". * :/ ./ .. :(top)*", REWRITE)]),
    row("git reset", WRITE).when(&[("--hard --merge --keep", REWRITE)]),
    row("git rebase", REWRITE).when(&[("-x --exec -i --interactive -s --strategy", RUN)]),
    row("git checkout|git switch", WRITE)
        .valued("-b -B -c -C --orphan")
        .beyond(1, REWRITE, "-b -c --create --orphan")
        .when(&[("-f --force --discard-changes -B -C --force-create -p --patch --ours --theirs -m --merge --pathspec-from-file", REWRITE)])
        .reader(Reader::GitDiscard),
    row("git restore", WRITE).reader(Reader::GitDiscard),
    row("git format-patch", WRITE).when(&[("--stdout", READ)]),
    row("git fast-export|git diagnose|git bugreport", WRITE),
    row("git update-ref|git replace|git filter-branch|git filter-repo|git gc|git prune|git prune-packed|git repack", REWRITE),
    row("git clean", REWRITE)
        .when(&[("-n -d -x -X", READ), ("--dry-run -d -x -X", READ)]),
    row("git maintenance", WRITE).subs().other(WRITE),
    row("git clone", SYNC)
        .takes(Takes::Hosts)
        .beyond(1, WRITE, "")
        .valued("-b -o --branch --depth --origin --jobs -j --filter --reference --shallow-since --server-option --bundle-uri")
        .when(&[("-c --config -u --upload-pack --exec --template", RUN)]),
    row("git fetch|git pull|git fetch-pack|git remote-http|git remote-https|git http-fetch|git svn|git p4|git scalar", SYNC)
        .takes(Takes::Hosts)
        .valued("-b -o --branch --depth --origin --jobs -j")
        .when(&[("-c --config -u --upload-pack --exec --template", RUN), ("-f --force --rebase --reset", REWRITE)]),
    row("git push", PUBLISH).takes(Takes::Hosts).reader(Reader::GitPush),
    row("git send-email|git send-pack|git http-push|git request-pull|git imap-send", REMOTE),
    row("git lfs", READ).subs(),
    row("git lfs ls-files|git lfs status|git lfs env|git lfs version|git lfs locks", READ).options("ladnspjI:X:r:i: --long --all --deleted --name-only --size --json --porcelain --include= --exclude= --debug --path= --id= --limit= --local --remote= --verify --cached"),
    row("git lfs install|git lfs track|git lfs untrack|git lfs migrate|git lfs pull|git lfs fetch|git lfs checkout|git lfs prune", SYNC),
    row("git lfs push|git lfs lock|git lfs unlock", PUBLISH),
    row("git credential|git credential-store|git credential-cache|git credential-osxkeychain", SECRET),
    row("git daemon|git instaweb|git http-backend|git shell|git upload-pack|git receive-pack|git upload-archive|git fsmonitor--daemon", LISTEN),
    row("git difftool|git mergetool|git gui|git citool|git gitk|git hook|git web--browse|git for-each-repo|git rebase--interactive|git sh-setup|git quiltimport|git cvsimport|git archimport", RUN),
    row("git refs|git repo", READ).subs(),
    row("git refs list|git refs verify|git refs exists|git repo info|git repo structure", READ).options("--format= --count= --sort= --contains= --points-at= --all --strict --verbose z"),
    row("git refs migrate", WRITE),
    row("git lost-found|git backfill|git history|git replay", UNKNOWN),
    row("git subtree|git flow|git town|git absorb|git branchless", WRITE),
    row("git crypt|git secret", SECRET),
    row("gitk|tig|lazygit|gitui", RUN),
    row("pre-commit", BUILD).subs().other(BUILD),
    row("husky|lint-staged", BUILD),
    row("git-filter-repo|bfg", REWRITE),
];
