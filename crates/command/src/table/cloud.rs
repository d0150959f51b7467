//! Containers, clusters, infrastructure and clouds.

use crate::effect::{
    BUILD, DELETE, FETCH, INSTALL, LISTEN, OVERWRITE, PRIVILEGE, PUBLISH, READ, RELEASE, REMOTE,
    RUN, SECRET, SIGNAL, SYNC, UNKNOWN, WRITE,
};
use crate::row::{Reader, Row, Takes, row};

/// Options of docker and its kin that list and show.
const DOCKER: &str = "aqsvf:n:l --all --quiet --filter= --format= --no-trunc --size --last= --latest --digests --tree --no-stream --human= --type= --since= --until= --limit= --json --verbose --orphans? --services --volumes --images --profiles --hash= --environment --variables --no-interpolate --no-normalize --no-path-resolution --no-consistency --status= --project= --platform= --raw --max-entries= --index= --namespace --interval= --pod --ns --sort= --noheading --no-color --no-log-prefix --resolve-image-digests --insecure --pretty --no-resolve --list-tags --project-name=";
/// Options of docker and its kin that show logs.
const LOGS: &str = "fn:tc --follow --tail= --timestamps --since= --until= --details --latest --names --color --no-color --no-log-prefix --index= --raw --no-trunc --no-task-ids --no-resolve --limit= --build";
/// Options of kubectl that ask.
const KUBE: &str = "An:l:o@c:L:wf:pR --all-namespaces --namespace= --selector= --output@ --container= --label-columns= --watch --watch-only --filename= --recursive --kustomize= --all-containers? --tail= --since= --since-time= --follow --timestamps --previous --prefix? --limit-bytes= --max-log-requests= --ignore-errors? --pod-running-timeout= --field-selector= --sort-by= --show-labels? --show-kind? --show-managed-fields? --show-events? --no-headers? --ignore-not-found? --chunk-size= --server-print? --subresource= --output-watch-events --template= --allow-missing-template-keys? --context= --cluster= --user= --request-timeout= --containers --sum --use-protocol-buffers --api-group= --api-version= --namespaced? --verbs= --categories= --cached --client? --short --for= --timeout= --types= --all --local --minify? --flatten? --quiet --list --no-pager --color? --field-manager= --force-conflicts --server-side? --prune --concurrency= --history --revision= --name-only --max= --warnings-as-errors --insecure-skip-tls-verify? --match-server-version --disable-compression --cpu= --v= v:";
/// Options of helm that ask.
const HELM: &str = "An:aqdo@rm:lf:i --all-namespaces --all --namespace= --output@ --filter= --max= --offset= --date --reverse --short --deployed --failed --pending --superseded --uninstalled --uninstalling --time-format= --selector= --revision= --show-desc --show-resources --version= --devel --repo= --versions --regexp --max-col-width= --list-repo-url --fail-on-no-result --endpoint= --client --template= --values= --set= --set-string= --set-json= --strict --quiet --with-subcharts --kube-version= --kube-context= --debug --kube-apiserver= --burst-limit= --qps= --keyring= --skip-schema-validation --include-crds --no-hooks --show-only= --name-template= --api-versions= --is-upgrade --skip-tests --release-name --generate-name";
/// Options of terraform that show.
const TERRAFORM: &str = "-json -no-color -state= -raw -module-depth= -type= -draw-cycles -plan= -id= -var= -var-file= -no-tests -test-directory= -verbose -show-sensitive -check -diff -recursive -list? -write? -compact-warnings -lock? -lock-timeout= -input? -chdir=";
/// Everything that a cloud's command line takes is a parameter of its service.
const CLOUD: &str = "o@g:n:q --* --output@ --format=";

pub(super) const ROWS: &[Row] = &[
    row("docker|podman|nerdctl", READ).subs().valued("-H --host -c --context --config -l --log-level --connection --url").flags("-D --debug --tls --tlsverify").when(&[("-H --host --config --tlscacert --tlscert --tlskey", UNKNOWN)]),
    row("docker ps|docker images|docker inspect|docker info|docker version|docker stats|docker top|docker port|docker diff|docker history|docker events|docker search|docker help|podman ps|podman images|podman inspect|podman info|podman version|podman stats|podman top|podman port|podman diff|podman history|podman search|nerdctl ps|nerdctl images|nerdctl inspect|nerdctl info", READ).options(DOCKER)
        .takes(Takes::Text),
    row("docker container|docker image|docker network|docker volume|docker system|docker compose|docker context|docker buildx|docker builder|docker manifest|docker plugin|docker swarm|docker service|docker node|docker stack|docker secret|docker config|docker scout|docker trust|podman container|podman image|podman network|podman volume|podman system|podman compose|podman pod|podman machine|nerdctl compose", READ).options(DOCKER)
        .subs()
        .valued("-f --file -p --project-name --profile --env-file --project-directory --ansi --progress --parallel --builder")
        .flags("--all-resources --compatibility --dry-run -D --debug"),
    row("docker logs|docker container logs|docker service logs|docker compose logs|docker-compose logs|podman logs|podman compose logs|podman container logs|nerdctl logs|crictl logs", READ).options(LOGS),
    row("docker container ls|docker container list|docker container ps|docker container inspect|docker container stats|docker container top|docker container port|docker container diff|docker image ls|docker image list|docker image inspect|docker image history|docker network ls|docker network list|docker network inspect|docker volume ls|docker volume list|docker volume inspect|docker system df|docker system info|docker system events|docker context ls|docker context list|docker context inspect|docker context show|docker buildx ls|docker buildx inspect|docker buildx version|docker buildx du|docker manifest inspect|docker plugin ls|docker service ls|docker service ps|docker service inspect|docker node ls|docker node ps|docker node inspect|docker stack ls|docker stack ps|docker stack services|docker secret ls|docker config ls|docker compose ps|docker compose config|docker compose ls|docker compose images|docker compose top|docker compose version|docker compose port|docker compose events|docker compose stats|docker compose volumes|docker builder du|podman container ls|podman image ls|podman network ls|podman volume ls|podman system df|podman pod ls|podman pod ps|podman machine ls|podman compose ps", READ).options(DOCKER)

        .when(&[("-o --output --lock-image-digests", OVERWRITE), ("--bootstrap", SYNC)]),
    row("docker build|docker buildx build|docker buildx bake|docker compose build|podman build|docker image build|docker builder build|buildah|kaniko|nerdctl build", BUILD),
    // Without a file they print the whole of it.
    row("docker save|docker export|docker image save|docker container export|podman save|podman export", READ).options("q --platform= --quiet").valued("-o --output").when(&[("-o --output", OVERWRITE)]),
    row("docker pull|docker load|docker import|docker create|docker start|docker restart|docker pause|docker unpause|docker rename|docker tag|docker update|docker wait|docker commit|docker cp|docker image pull|docker image tag|docker image load|docker network create|docker network connect|docker network disconnect|docker volume create|docker container start|docker container restart|docker container create|docker compose up|docker compose start|docker compose restart|docker compose pull|docker compose create|docker compose pause|docker compose unpause|docker compose cp|docker compose watch|docker context use|docker context create|docker buildx create|docker buildx use|podman pull|podman start|podman restart|podman create|podman tag|podman cp|podman compose up|podman machine start|nerdctl pull|nerdctl compose up", SYNC),
    row("docker stop|docker container stop|docker compose stop|podman stop|docker kill|docker container kill|docker compose kill|podman kill|podman machine stop", SIGNAL),
    row("docker rm|docker rmi|docker container rm|docker container remove|docker image rm|docker image remove|docker compose rm|docker compose down|docker context rm|docker buildx rm|docker secret rm|docker config rm|podman rm|podman rmi|podman compose down|nerdctl rm|nerdctl rmi", DELETE)
        .when(&[("-f --force -v --volumes --rmi", REMOTE)]),
    row("docker volume rm|docker volume remove|docker network rm|docker network remove|podman volume rm|podman network rm|docker volume prune|docker system prune|docker container prune|docker image prune|docker network prune|docker builder prune|docker buildx prune|podman system prune|podman volume prune|podman image prune|podman system reset|docker stack rm|docker service rm|docker swarm leave|docker node rm", REMOTE),
    row("docker push|docker image push|docker compose push|docker manifest push|docker buildx imagetools create|podman push|docker compose publish|docker service create|docker service update|docker service scale|docker stack deploy|docker swarm init|docker swarm join|docker plugin install|docker plugin enable", RELEASE),
    row("docker buildx imagetools|docker buildx history", READ).options(DOCKER).subs(),
    row("docker buildx imagetools inspect|docker buildx history ls|docker buildx history logs|docker buildx history inspect", FETCH).options(DOCKER).valued("--format"),
    row("docker login|docker logout|docker secret create|docker secret inspect|docker trust sign|podman login|podman logout", SECRET),
    row("docker run|docker container run|podman run|nerdctl run|docker compose run|podman compose run", RUN).when(&[("--privileged --cap-add --pid --device --userns", PRIVILEGE)]).shaped(&[("/:* -v/:* --volume=/:* --mount=*source=/,* *docker.sock*", PRIVILEGE)]),
    row("docker attach|docker compose attach|docker debug|podman attach|docker init", RUN),
    row("docker-compose", READ).subs().valued("-f --file -p --project-name --profile --env-file"),
    row("docker-compose ps|docker-compose config|docker-compose images|docker-compose top|docker-compose version|docker-compose ls|docker-compose port", READ).options(DOCKER).when(&[("-o --output", OVERWRITE)]),
    row("docker-compose up|docker-compose start|docker-compose restart|docker-compose pull|docker-compose build|docker-compose create", BUILD),
    row("docker-compose down|docker-compose rm|docker-compose stop|docker-compose kill", DELETE).when(&[("-v --volumes --rmi -f --force", REMOTE)]),
    row("docker-compose exec|docker-compose run", RUN),
    row("dockerd|containerd|runc|crun|lxc|lxd|incus|multipass|vagrant|virsh|VBoxManage|qemu-img|firecracker|colima|lima|limactl|minikube|kind|k3s|microk8s|kubeadm", UNKNOWN).things(READ, RUN, REMOTE).other(UNKNOWN),
    row("minikube status|minikube ip|colima status|limactl list|virsh list|lxc list", READ).options("ajsvn:o@ --all --json --verbose --active --peers --self --output@ --profile= --app= -a= --format= --quiet --tail --num= -n= --name="),
    row("kind get", READ).options("ajsvn:o@ --all --json --verbose --active --peers --self --output@ --profile= --app= -a= --format= --quiet --tail --num= -n= --name=").subs(),
    row("kind get clusters|kind get nodes", READ).options("ajsvn:o@ --all --json --verbose --active --peers --self --output@ --profile= --app= -a= --format= --quiet --tail --num= -n= --name="),
    row("kind get kubeconfig", SECRET),
    row("vagrant status|vagrant validate|vagrant port|vagrant ssh-config", BUILD),
    row("nsenter|unshare|chroot|capsh|setpriv|systemd-nspawn|bwrap|firejail", PRIVILEGE),
    row("crictl|ctr|skopeo|crane|regctl|cosign|trivy|grype|syft", FETCH).things(FETCH, UNKNOWN, REMOTE).other(UNKNOWN),
    row("crictl ps|crictl images|crictl inspect|crictl pods|crictl info|skopeo inspect|skopeo list-tags|crane ls|crane manifest|crane digest|crane config|regctl tag ls|regctl tag list|regctl manifest head|regctl version", FETCH).options(DOCKER),
    row("regctl tag|regctl manifest", FETCH).subs().other(UNKNOWN),
    // Kubernetes.
    row("kubectl|k|oc", READ).subs().anywhere().valued("-n --namespace --context --cluster -s --server --user --kubeconfig --as --token -l --selector --request-timeout").flags("--warnings-as-errors --insecure-skip-tls-verify --match-server-version --disable-compression").when(&[("--kubeconfig --server -s --token --cache-dir --kuberc", UNKNOWN), ("--as --as-group --as-uid", PRIVILEGE), ("--profile --profile-output --log-file --log-dir", OVERWRITE)]),
    row("kubectl get|kubectl describe|kubectl logs|kubectl top|kubectl explain|kubectl version|kubectl api-resources|kubectl api-versions|kubectl cluster-info|kubectl diff|kubectl events|kubectl wait|kubectl options|kubectl help|oc get|oc describe|oc logs|oc status|oc whoami|oc projects|oc version|k get|k describe|k logs|k top", FETCH).options(KUBE)
        .valued("-n --namespace -l --selector -o --output --field-selector --sort-by -c --container --tail --since -f --filename --context -L --for --timeout")
        .when(&[("--kubeconfig --server --token --raw", UNKNOWN), ("--output-directory", OVERWRITE)])
        .shaped(&[("--raw=*secret*", SECRET)]),
    row("kubectl config|kubectl auth|kubectl rollout|kubectl set|kubectl certificate|kubectl plugin", READ).options(KUBE).subs().other(REMOTE),
    row("kubectl create", PUBLISH).subs().other(PUBLISH),
    row("kubectl create token|kubectl create secret", SECRET),
    row("kubectl config view|kubectl config get-contexts|kubectl config current-context|kubectl config get-clusters|kubectl config get-users", READ).options(KUBE).when(&[("--raw", SECRET)]),
    row("kubectl config use-context|kubectl config set-context|kubectl config set|kubectl config unset|kubectl config rename-context|kubectl config set-cluster|kubectl config set-credentials|kubectl config delete-context|kubectl config delete-cluster", WRITE),
    row("kubectl auth can-i|kubectl auth whoami|kubectl rollout status|kubectl rollout history|kubectl plugin list", FETCH).options(KUBE),
    row("kubectl rollout undo|kubectl rollout pause|kubectl cordon|kubectl taint|oc rollback|k drain|k scale|k rollout|k replace|kubectl rollout restart|kubectl rollout resume|kubectl scale|kubectl set image|kubectl set env|kubectl set resources|k set", REMOTE),
    row("kubectl apply|k apply", PUBLISH).when(&[("--force --prune", REMOTE)]),
    row("kubectl autoscale|kubectl label|kubectl annotate|kubectl expose|kubectl patch|kubectl edit|kubectl create namespace|kubectl create deployment|kubectl create configmap|kubectl create job|kubectl cp|kubectl uncordon", PUBLISH),
    row("kubectl delete|kubectl drain|kubectl replace|oc delete|k delete|kubectl certificate approve", REMOTE),
    row("kubectl run|kubectl attach|kubectl debug|kubectl proxy|kubectl port-forward|oc rsh|oc exec|k exec|kubectl kustomize", RUN),
    row("kubectx|kubens|k9s|kustomize", UNKNOWN).subs().other(UNKNOWN),
    row("istioctl analyze", FETCH).options(KUBE),
    row("helm", READ).subs().valued("-n --namespace --kube-context --kubeconfig").flags("--debug").when(&[("--kubeconfig", UNKNOWN)]),
    row("helm list|helm ls|helm status|helm history|helm version|helm env|helm search|helm show|helm lint|helm verify", FETCH).options(HELM).when(&[("--post-renderer", RUN)]),
    row("helm get|helm repo|helm dependency|helm plugin", READ).options(HELM).subs(),
    row("helm get values|helm get manifest|helm get notes|helm get hooks|helm get all|helm repo list|helm dependency list|helm plugin list", FETCH).options(HELM),
    row("helm template", READ).options(HELM).when(&[("--post-renderer", RUN), ("--output-dir", OVERWRITE)]),
    row("helm rollback", REMOTE),
    row("helm install|helm upgrade|helm test", PUBLISH).when(&[("--force --reset-values", REMOTE)]),
    row("helm pull|helm create|helm package|helm repo add|helm repo update|helm repo remove|helm repo index|helm dependency update|helm dependency build", SYNC),
    row("helm uninstall|helm delete|helm push", REMOTE),
    row("helm plugin install|helm plugin update|helm plugin uninstall", INSTALL),
    // Infrastructure as code.
    row("terraform|tofu|terragrunt", READ).subs().single_dash().valued("-chdir"),
    row("terraform version|terraform validate|terraform graph|tofu version|tofu validate|tofu graph", READ).options(TERRAFORM).single_dash(),
    // As data for others they show what is sensitive, too.
    row("terraform output|terraform show|tofu output|tofu show", READ).options(TERRAFORM).single_dash().when(&[("-json -raw -show-sensitive", SECRET)]).shaped(&[("*secret* *password* *passwd* *token* *credential* *private* *api_key* *apikey* *access_key*", SECRET)]),
    // Its settings may run programs (`run_cmd`).
    row("terragrunt output|terragrunt show|terragrunt validate|terragrunt hclfmt|terragrunt graph-dependencies|terragrunt state|terragrunt providers|terragrunt run|terragrunt render-json", RUN),
    row("terraform providers|tofu providers", READ).options(TERRAFORM).subs(),
    row("terraform providers schema|tofu providers schema", READ).options(TERRAFORM).single_dash(),
    row("terraform providers lock|terraform providers mirror|tofu providers lock|tofu providers mirror", WRITE),
    row("terraform fmt|tofu fmt", WRITE).single_dash().when(&[("-check -diff -recursive", READ)]),
    row("terraform plan|terraform refresh|terraform get|terraform init|tofu plan|tofu init|terragrunt plan|terragrunt init", SYNC).single_dash().when(&[("-destroy", SYNC)]),
    row("terraform apply|terraform destroy|terraform import|terraform taint|terraform untaint|terraform force-unlock|terraform login|terraform logout|tofu apply|tofu destroy|tofu import|terragrunt apply|terragrunt destroy|terragrunt run-all", REMOTE).single_dash(),
    row("terraform state|terraform workspace|tofu state|tofu workspace", READ).options(TERRAFORM).subs(),
    row("terraform state list|terraform state show|terraform workspace list|terraform workspace show|tofu state list|tofu state show|tofu workspace list", READ).options(TERRAFORM),
    row("terraform state pull|tofu state pull", SECRET),
    row("terraform state rm|terraform state mv|terraform state push|terraform state replace-provider|terraform workspace delete|tofu state rm|tofu state mv", REMOTE),
    row("terraform workspace new|terraform workspace select|tofu workspace select", WRITE),
    row("terraform console|terraform test", UNKNOWN),
    row("packer init|packer plugins", REMOTE),
    row("pulumi|cdk|cdktf|sam|packer|vault|crossplane", UNKNOWN).things(FETCH, RUN, REMOTE).other(UNKNOWN),
    row("pulumi preview|cdk list|cdk ls|cdk diff|cdk synth", BUILD).when(&[("-a --app --build -c --context --cwd --plugin", RUN)]),
    row("pulumi whoami|packer validate|packer version|vault status|vault version", FETCH).options("ajsvn:o@ --all --json --verbose --active --peers --self --output@ --profile= --app= -a= --format= --quiet --tail --num= -n= --name="),
    row("pulumi up|pulumi destroy|cdk deploy|cdk destroy|sam deploy|packer build|nomad run|nomad stop", REMOTE),
    row("vault print|vault read|vault write|vault kv|vault login|vault token|vault delete|pass|op|bw|gopass|lpass|keyring|secret-tool|security|sops|age", SECRET),
    row("ansible-galaxy", FETCH).things(FETCH, SYNC, DELETE).other(UNKNOWN),
    row("ansible-galaxy install", REMOTE),
    row("ansible-vault", SECRET),
    // What it would work on is found out with code of the project.
    row("ansible|ansible-playbook", REMOTE).begins(&[("--version --help", READ)]).reader(Reader::Ansible),
    row("salt|salt-call|puppet|chef-client|pyinfra", REMOTE),
    // It runs the settings of the directory, which are a program.
    row("helmfile|airflow", RUN).subs().other(RUN),
    row("knife", REMOTE).things(RUN, REMOTE, REMOTE).other(REMOTE),
    row("conan inspect|conan graph|conan info|conan install|conan create|conan build|conan source|conan export", RUN),
    row("ansible-inventory", RUN),
    row("ansible-doc|ansible-config", READ).options("ljst:F --list --json --snippet --type= --list_files --metadata-dump --only-changed --format=").when(&[("--output", OVERWRITE), ("--vault-password-file --vault-id -M --module-path --playbook-dir -c --config", RUN)]),
    // Clouds: what only describes is read, the rest is remote and shared.
    row("aws", READ).things(FETCH, REMOTE, REMOTE).other(REMOTE).options(CLOUD).valued("--profile --region --query --color --output --cli-read-timeout --cli-connect-timeout --cli-binary-format").flags("--no-cli-pager --debug --no-paginate --no-sign-request --no-cli-auto-prompt --no-verify-ssl")
        .when(&[("--endpoint-url --ca-bundle --cli-input-json --cli-input-yaml", UNKNOWN), ("--open --web --browser", RUN)]),
    row("aws s3", READ).subs().options(CLOUD),
    row("aws s3 ls", FETCH).options(CLOUD),
    row("aws s3 cp|aws s3 mv|aws s3 sync|aws s3 mb|aws s3 website", RELEASE).when(&[("--delete", REMOTE)]),
    row("aws s3 rm|aws s3 rb", REMOTE),
    row("aws s3 presign", SECRET),
    row("aws s3api", READ).things(FETCH, REMOTE, REMOTE).other(REMOTE).options(CLOUD),
    row("aws s3api get-object|aws s3api select-object-content|aws s3api get-object-torrent", OVERWRITE),
    // What they are asked for goes to the file that is their operand.
    row("aws apigateway|aws glacier|aws ebs|aws iot-data|aws lambda|aws polly|aws codeartifact|aws kinesis-video-media|aws kinesis-video-archived-media|aws mediastore-data|aws s3control|aws sagemaker-runtime|aws bedrock-runtime|aws workmailmessageflow|aws appconfig|aws appconfigdata", READ).things(FETCH, REMOTE, REMOTE).other(REMOTE).options(CLOUD),
    row("aws apigateway get-export|aws apigateway get-sdk|aws glacier get-job-output|aws ebs get-snapshot-block|aws iot-data get-thing-shadow|aws iot-data get-retained-message|aws polly synthesize-speech|aws codeartifact get-package-version-asset|aws kinesis-video-media get-media|aws kinesis-video-archived-media get-clip|aws mediastore-data get-object|aws workmailmessageflow get-raw-message-content|aws appconfig get-configuration|aws appconfigdata get-latest-configuration", OVERWRITE),
    row("aws apigateway get-api-keys|aws apigateway get-api-key", FETCH).options(CLOUD).when(&[("--include-values --include-value", SECRET)]),
    row("aws configure", WRITE).subs().other(SECRET),
    row("aws configure list|aws configure list-profiles", READ).options(CLOUD),
    row("aws configure get|aws configure set|aws configure export-credentials", SECRET),
    row("gcloud", READ).things(FETCH, REMOTE, REMOTE).other(REMOTE).options(CLOUD).valued("--project --account --format --filter --configuration --impersonate-service-account --zone --region --verbosity --billing-project --user-output-enabled").flags("--quiet -q --no-user-output-enabled")
        .when(&[("--flags-file --access-token-file --impersonate-service-account", UNKNOWN)]),
    row("gcloud auth login|gcloud auth application-default|gcloud auth activate-service-account", SECRET),
    row("gcloud auth", READ).things(FETCH, REMOTE, REMOTE).options(CLOUD),
    row("gcloud config", READ).things(READ, REMOTE, REMOTE).options(CLOUD),
    row("gcloud info|gcloud version|gcloud topic|gcloud cheat-sheet|gcloud feedback", READ).options(CLOUD),
    row("gsutil", READ).verbs(FETCH, REMOTE, REMOTE).other(REMOTE).when(&[("-o", REMOTE)]).flags("-m -q -D -DD"),
    row("gsutil ls|gsutil cat|gsutil du|gsutil stat|gsutil version|gsutil hash", FETCH).options(CLOUD),
    row("gsutil cp|gsutil mv|gsutil rsync|gsutil rm|gsutil rb", REMOTE),
    row("az", READ).things(FETCH, REMOTE, REMOTE).other(REMOTE).options(CLOUD).when(&[("--open --web --browser", RUN)]).valued("--subscription --query -g --resource-group -n --name"),
    row("az login|az logout", SECRET),
    row("az webapp|az functionapp|az webapp log|az functionapp log", READ).things(FETCH, REMOTE, REMOTE).other(REMOTE).options(CLOUD),
    row("az webapp log config|az functionapp log config", REMOTE),
    row("az ad", READ).things(FETCH, SECRET, SECRET).other(SECRET).options(CLOUD),
    row("az version|az find|az feedback", READ).options(CLOUD),
    row("heroku|velero|restic|borg|rustic|kopia|duplicity|duplicacy|bacula|bconsole|gitlab-runner|jenkins-cli|cockroach|scylla|nodetool|fly|flyctl|railway|render|doctl|linode-cli|hcloud|scw|ibmcloud|oci|openstack|exo|civo|supabase|pscale|planetscale|neonctl|turso|stripe|twilio|sentry-cli|datadog-ci|newrelic|circleci|buildkite-agent|travis|codecov|snyk|vultr-cli|cf|bosh|balena|kaggle|gcrane|bx|yc|aliyun|tccli|upctl|eb|ecs-cli|chalice|zappa|serverless|sls|sst|doppler|infisical|ngc|huggingface-cli|hf|wandb|dbt|prefect|dagster|astro-cli|rabbitmqctl|rabbitmqadmin|rpk|nats|etcdctl|ceph|rbd|rados|radosgw-admin|gluster|vcluster|k3d|argocd|flux|cilium|linkerd|istioctl|kops|eksctl|stern|nomad|consul|boundary|waypoint|spacectl|tfe|gitea|tea|fj|hub|jira|sfdx|sf|zapier|koji|chainctl|dolt|stolonctl|glances-cli|ibm-cloud|elasticsearch-plugin|logstash-plugin|jf|jfrog|nova|neutron|cinder|glance|keystone|snyk-cli|wrangler-cli|resend|acorn|okteto|devspace|garden|werf|porter|humctl|score-compose|coder|gitpod|tailscale|netbird|zerotier-cli|headscale|mullvad|nordvpn|protonvpn|warp-cli|ivpn|hcp|vercel|netlify|firebase|amplify|surge", FETCH).things(FETCH, PUBLISH, REMOTE).other(UNKNOWN),
    row("heroku apps|heroku ps|heroku logs|heroku releases|fly status|fly logs|flyctl status|flyctl logs|doctl account|supabase status", FETCH).options("a:n:t --app= --tail --num= --json").options("ajsvn:o@ --all --json --verbose --active --peers --self --output@ --profile= --app= -a= --format= --quiet --tail --num= -n= --name=").takes(Takes::Text),
    row("ollama", UNKNOWN).verbs(READ, SYNC, DELETE).other(UNKNOWN),
    row("ollama list|ollama ps|ollama show", READ).options("ajsvn:o@ --all --json --verbose --active --peers --self --output@ --profile= --app= -a= --format= --quiet --tail --num= -n= --name="),
    row("ssh-keyscan", FETCH).options("46cDHt:p:T:O:qv").when(&[("-f", READ)]),
    row("kafka-topics|kafka-topics.sh|kafka-consumer-groups|kafka-consumer-groups.sh|kafka-acls|kafka-acls.sh|kafka-configs|kafka-configs.sh|kafka-delete-records|kafka-delete-records.sh", UNKNOWN)
        .valued("--bootstrap-server --zookeeper --topic --group --entity-type --entity-name --command-config")
        .when(&[("--delete --remove --delete-config --reset-offsets --delete-offsets --offset-json-file", REMOTE), ("--list --bootstrap-server --topic --group --zookeeper --exclude-internal", FETCH), ("--describe --bootstrap-server --topic --group --zookeeper --all-groups --entity-type --entity-name --all --members --state --verbose", FETCH)]),
    row("wg|wg-quick|openvpn", LISTEN).subs().other(LISTEN),
    row("tailscale up|tailscale serve|tailscale funnel|tailscale ssh|tailscale file", LISTEN),
    row("tailscale status|tailscale ip|tailscale version", READ).options("ajsvn:o@ --all --json --verbose --active --peers --self --output@ --profile= --app= -a= --format= --quiet --tail --num= -n= --name=").when(&[("--web --listen", LISTEN)]),
];
