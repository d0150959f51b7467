//! The command lines of GitHub and GitLab.

use crate::effect::{FETCH, PUBLISH, READ, REMOTE, RUN, SECRET, SYNC, WRITE};
use crate::row::{Reader, Row, Takes, row};

/// Opening a browser runs whatever the browser setting names.
const WEB: &[(&str, crate::effect::Does)] = &[("-w --web", RUN)];
/// To commands about workflows `-w` names one.
const LONG_WEB: &[(&str, crate::effect::Does)] = &[("--web", RUN)];

/// Options of gh and glab that ask.
const ASK: &str = "R:L:q:t:s:l:a:A:S:B:H:b:e:u:j:vcnO:o:T:p:P:fw:i:r:F:mygdCMD --repo= --limit= --jq= --template= --state= --label= --assignee= --author= --search= --base= --head= --branch= --event= --user= --json= --job= --hostname= --comments --log --log-failed --exit-status --verbose --status= --created= --commit= --workflow= --all --attempt= --name-only --patch --color= --required --watch --interval= --fail-fast --app= --mention= --milestone= --order= --sort= --key= --ref= --raw --files --filename= --yaml --owner= --language= --visibility= --fork --no-archived --source --topic= --closed --format= --public --secret --include-forks= --extension= --match= --merged --draft --review= --checks= --exclude-drafts --exclude-pre-releases --org= --env= --active --no-pager --per-page= --page= --output@ --group= --mine --opened --merged-after= --reviewer= --compact --stars= --archived= --created= --updated= --size= --committer= --hash= --parent= --tree= --author-date= --committer-date= --author-email= --author-name= --committer-name= --merge";

pub(super) const ROWS: &[Row] = &[
    row("gh", READ).subs().anywhere().valued("-R --repo --hostname"),
    row("gh pr|gh issue|gh repo|gh run|gh workflow|gh release|gh gist|gh label|gh search|gh auth|gh cache|gh secret|gh variable|gh ssh-key|gh gpg-key|gh project|gh ruleset|gh org|gh codespace|gh extension|gh alias|gh config|gh attestation", READ).subs(),
    row("gh pr view|gh pr list|gh pr status|gh pr diff|gh pr checks|gh issue view|gh issue list|gh issue status|gh repo view|gh repo list|gh run view|gh workflow view|gh workflow list|gh release view|gh release list|gh gist view|gh gist list|gh label list|gh search code|gh search commits|gh search issues|gh search prs|gh search repos|gh cache list|gh project list|gh project view|gh project item-list|gh project field-list|gh ruleset list|gh ruleset view|gh ruleset check|gh org list|gh extension list|gh alias list|gh config list|gh status|gh variable list|gh variable get|gh secret list", FETCH).options(ASK)

        .when(WEB),
    row("gh run list", FETCH).options(ASK).when(LONG_WEB),
    row("gh run watch", FETCH).options(ASK).valued("-i --interval -R"),
    row("gh config get", READ).options(ASK).valued("-h --host").shaped(&[("*token*", SECRET)]),
    row("gh repo gitignore|gh repo license|gh repo deploy-key|gh repo autolink", READ).subs(),
    row("gh repo gitignore list|gh repo gitignore view|gh repo license list|gh repo license view|gh repo deploy-key list|gh repo autolink list|gh repo autolink view", FETCH).options(ASK).when(WEB),
    row("gh repo deploy-key add|gh repo deploy-key delete|gh repo autolink create|gh repo autolink delete", REMOTE),
    row("gh auth status", READ).options(ASK).when(&[("-t --show-token", SECRET)]),
    row("gh auth token|gh auth login|gh auth logout|gh auth refresh|gh auth setup-git|gh auth switch|gh secret set|gh secret delete|gh secret remove|gh ssh-key add|gh ssh-key delete|gh gpg-key add|gh gpg-key delete", SECRET),
    row("gh ssh-key list|gh gpg-key list", FETCH).options(ASK),
    row("gh pr create|gh pr comment|gh pr edit|gh pr review|gh pr ready|gh pr close|gh pr reopen|gh pr lock|gh pr unlock|gh pr update-branch|gh issue create|gh issue comment|gh issue edit|gh issue close|gh issue reopen|gh issue pin|gh issue unpin|gh issue lock|gh issue unlock|gh issue develop|gh run rerun|gh run cancel|gh workflow run|gh workflow enable|gh workflow disable|gh gist create|gh gist edit|gh label create|gh label edit|gh label clone|gh project create|gh project edit|gh project item-add|gh project item-edit|gh project item-create|gh variable set|gh repo fork|gh repo sync|gh repo create", PUBLISH)
        .valued("-t --title -b --body -F --body-file -R"),
    row("gh repo edit", PUBLISH).when(&[("--visibility --allow-forking --delete-branch-on-merge", REMOTE)]),
    row("gh pr merge|gh issue delete|gh issue transfer|gh repo delete|gh repo archive|gh repo rename|gh run delete|gh release create|gh release edit|gh release upload|gh release delete|gh release delete-asset|gh gist delete|gh label delete|gh cache delete|gh project delete|gh variable delete", REMOTE),
    row("gh pr checkout|gh repo clone|gh repo set-default|gh run download|gh release download|gh gist clone|gh attestation download", SYNC),
    row("gh alias set|gh alias delete|gh alias import|gh config set|gh config clear-cache", WRITE).shaped(&[("!*", RUN)]),
    row("gh extension install|gh extension upgrade|gh extension remove|gh extension exec|gh browse|gh codespace ssh|gh copilot", RUN),
    row("gh attestation verify", FETCH).options(ASK),
    row("gh api", FETCH).options(ASK)
        .takes(Takes::Text)
        .options("i --paginate --slurp --silent --include --verbose").valued("-H --header -q --jq -t --template --hostname --cache -p --preview")
        .when(&[("-X --method", REMOTE), ("-f --raw-field -F --field --input", PUBLISH)])
        .reader(Reader::GhApi),
    row("gh completion|gh version|gh help", READ).options(ASK),
    row("glab", READ).subs().valued("-R --repo"),
    row("glab mr|glab issue|glab ci|glab repo|glab release", READ).subs(),
    row("glab mr list|glab mr view|glab mr diff|glab issue list|glab issue view|glab ci list|glab ci status|glab ci view|glab repo view|glab release list|glab release view", FETCH).options(ASK).when(WEB),
    row("glab mr create|glab mr update|glab mr note|glab mr approve|glab issue create|glab issue note|glab ci run|glab ci retry", PUBLISH),
    row("glab mr merge|glab mr delete|glab issue delete|glab repo delete|glab release create|glab release delete", REMOTE),
];
