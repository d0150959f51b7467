//! git: porcelain, plumbing and their sub-commands.

use crate::effect::{
    BUILD, DELETE, FETCH, LISTEN, OVERWRITE, PUBLISH, READ, REMOTE, REWRITE, RUN, SECRET, SYNC,
    UNKNOWN, WRITE,
};
use crate::row::{Reader, Row, Takes, row};

/// Options of everything that prints differences.
const DIFF: &[(&str, crate::effect::Does)] =
    &[("--output", OVERWRITE), ("--ext-diff --textconv", RUN)];
const DIFF_VALUED: &str = "-n -S -G -U -L -O --max-count --skip --since --until --after --before --author --committer --grep --format --pretty --date --diff-filter --unified --word-diff-regex --inter-hunk-context --src-prefix --dst-prefix --relative --stat-width --color-moved --max-depth";

pub(super) const ROWS: &[Row] = &[
    row("git", READ)
        .subs()
        .valued("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path --attr-source")
        .when(&[("-c --config-env --exec-path --git-dir --work-tree", RUN), ("--version", READ), ("--help", READ)]),
    // Looking.
    row("git status|git shortlog|git describe|git name-rev|git cherry|git version|git var|git whatchanged|git range-diff|git show-branch|git count-objects|git check-ignore|git check-attr|git check-mailmap|git check-ref-format|git column|git stripspace|git get-tar-commit-id|git patch-id|git fmt-merge-msg", READ)
        .takes(Takes::Paths)
        .valued(DIFF_VALUED)
        .when(DIFF),
    row("git log|git show|git diff|git diff-tree|git diff-index|git diff-files|git diff-pairs|git reflog show|git stash show|git rev-list", READ)
        .takes(Takes::Paths)
        .valued(DIFF_VALUED)
        .when(DIFF),
    row("git blame|git annotate|git ls-files|git ls-tree|git rev-parse|git cat-file|git for-each-ref|git show-ref|git merge-base|git verify-commit|git verify-tag|git verify-pack|git show-index|git last-modified", READ)
        .takes(Takes::Paths)
        .valued("-L -C -M --since --format --sort --count --contains --points-at --batch-command")
        .when(&[("--textconv --filters", RUN)]),
    row("git help", READ).when(&[("-w --web -i --info", RUN)]),
    row("git merge-tree", WRITE),
    row("git grep", READ)
        .takes(Takes::PatternThenPaths)
        .valued("-e -f -A -B -C -m --max-depth --threads --max-count")
        .when(&[("-O --open-files-in-pager", RUN), ("--textconv --ext-grep", RUN)]),
    row("git ls-remote", FETCH).takes(Takes::Hosts).when(&[("-u --upload-pack --exec", RUN)]),
    row("git branch", READ)
        .valued("--sort --format --contains --no-contains --merged --no-merged --points-at -u --set-upstream-to")
        .beyond(0, WRITE, "--list -l --contains --no-contains --merged --no-merged --points-at -a --all -r --remotes --show-current")
        .when(&[
            ("-D", REWRITE),
            ("-d --delete", DELETE),
            ("-m --move -c --copy -u --set-upstream-to --unset-upstream --track -t --edit-description --create-reflog", WRITE),
            ("-f --force -M -C", REWRITE),
        ]),
    row("git tag", READ)
        .valued("--sort --format --contains --no-contains --merged --no-merged --points-at -n -m -F -u")
        .beyond(0, WRITE, "--list -l --contains --no-contains --merged --no-merged --points-at -v --verify")
        .when(&[("-d --delete", DELETE), ("-f --force", REWRITE), ("-a --annotate -s --sign -m --message -F --file -e --edit -u --local-user", WRITE)]),
    row("git remote", READ).subs(),
    row("git remote show|git remote get-url", READ).takes(Takes::Hosts),
    row("git remote add|git remote remove|git remote rm|git remote rename|git remote set-url|git remote set-head|git remote set-branches", WRITE),
    row("git remote prune|git remote update", SYNC),
    row("git config", READ).reader(Reader::GitConfig),
    row("git reflog", READ).subs().other(READ).valued(DIFF_VALUED).when(DIFF),
    row("git reflog list|git reflog exists", READ),
    row("git reflog expire|git reflog delete|git reflog drop", REWRITE),
    row("git stash", WRITE).subs().when(&[("-u --include-untracked -a --all", WRITE)]),
    row("git stash list", READ).valued(DIFF_VALUED).when(DIFF),
    row("git stash push|git stash save|git stash apply|git stash pop|git stash branch|git stash create|git stash store|git stash export|git stash import", WRITE),
    row("git stash drop|git stash clear", REWRITE),
    row("git worktree", READ).subs(),
    row("git worktree list", READ),
    row("git worktree add|git worktree move|git worktree lock|git worktree unlock|git worktree repair", WRITE).takes(Takes::Paths),
    row("git worktree remove|git worktree prune", DELETE).when(&[("-f --force", REWRITE)]),
    row("git notes", READ).subs(),
    row("git notes list|git notes show|git notes get-ref", READ),
    row("git notes add|git notes append|git notes copy|git notes edit|git notes merge|git notes remove|git notes prune", WRITE),
    row("git bisect", READ).subs(),
    row("git bisect log|git bisect terms", READ),
    row("git bisect start|git bisect good|git bisect bad|git bisect new|git bisect old|git bisect skip|git bisect reset|git bisect replay|git bisect next", WRITE),
    row("git bisect run|git bisect view|git bisect visualize", RUN),
    row("git submodule", READ).subs(),
    row("git submodule status|git submodule summary", READ),
    row("git submodule add|git submodule init|git submodule update|git submodule sync|git submodule absorbgitdirs|git submodule set-url|git submodule set-branch", SYNC),
    row("git submodule deinit", DELETE).when(&[("-f --force", REWRITE)]),
    row("git submodule foreach", RUN),
    row("git sparse-checkout", READ).subs(),
    row("git sparse-checkout list", READ),
    row("git sparse-checkout init|git sparse-checkout set|git sparse-checkout add|git sparse-checkout reapply|git sparse-checkout disable", WRITE),
    row("git bundle", READ).subs(),
    row("git bundle verify|git bundle list-heads", READ).takes(Takes::Paths),
    row("git bundle create|git bundle unbundle", WRITE),
    row("git symbolic-ref", READ).beyond(1, WRITE, "").when(&[("-d --delete", DELETE), ("-m", WRITE)]),
    row("git fsck", READ).when(&[("--lost-found", WRITE)]),
    row("git archive", READ).takes(Takes::Hosts).valued("--format --prefix --remote --exec --add-file --mtime").when(&[("-o --output", OVERWRITE), ("--exec --remote", RUN)]),
    row("git hash-object", READ).takes(Takes::Paths).when(&[("-w", WRITE)]),
    row("git mktag|git mktree|git write-tree|git commit-tree|git commit-graph|git multi-pack-index|git unpack-file|git merge-file|git merge-index|git merge-one-file|git read-tree|git checkout-index|git update-index|git pack-refs|git update-server-info|git rerere|git index-pack|git pack-objects|git unpack-objects|git mailinfo|git mailsplit|git fast-import|git apply|git am|git add|git stage|git mv|git interpret-trailers", WRITE),
    row("git init", WRITE)
        .takes(Takes::Paths)
        .valued("-b --initial-branch --object-format --ref-format --separate-git-dir")
        .when(&[("--template", RUN)]),
    row("git commit", WRITE).valued("-m -F -C -c -t --message --file --author --date --fixup --squash").when(&[("--amend", REWRITE)]),
    row("git merge|git cherry-pick|git revert", WRITE).valued("-m -s -X -F --message").when(&[("-s --strategy", RUN)]),
    row("git rm", DELETE).takes(Takes::Paths).when(&[("-f --force", REWRITE)]),
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
    row("git lfs ls-files|git lfs status|git lfs env|git lfs version|git lfs locks", READ),
    row("git lfs install|git lfs track|git lfs untrack|git lfs migrate|git lfs pull|git lfs fetch|git lfs checkout|git lfs prune", SYNC),
    row("git lfs push|git lfs lock|git lfs unlock", PUBLISH),
    row("git credential|git credential-store|git credential-cache|git credential-osxkeychain", SECRET),
    row("git daemon|git instaweb|git http-backend|git shell|git upload-pack|git receive-pack|git upload-archive|git fsmonitor--daemon", LISTEN),
    row("git difftool|git mergetool|git gui|git citool|git gitk|git hook|git web--browse|git for-each-repo|git rebase--interactive|git sh-setup|git quiltimport|git cvsimport|git archimport", RUN),
    row("git refs|git repo", READ).subs(),
    row("git refs list|git refs verify|git refs exists|git repo info|git repo structure", READ).valued("--format --count --sort --contains --points-at"),
    row("git refs migrate", WRITE),
    row("git lost-found|git backfill|git history|git replay", UNKNOWN),
    row("git subtree|git flow|git town|git absorb|git branchless", WRITE),
    row("git crypt|git secret", SECRET),
    row("gitk|tig|lazygit|gitui", RUN),
    row("pre-commit|husky|lint-staged", BUILD),
    row("git-filter-repo|bfg", REWRITE),
];
