complete -c kubectl-ds_doctor -s n -l namespace -d 'The namespace to look in' -r
complete -c kubectl-ds_doctor -s l -l selector -d 'Only DaemonSets with these labels, such as app=web,tier!=test' -r
complete -c kubectl-ds_doctor -l node -d 'Only this node, with every check on it (repeatable)' -r
complete -c kubectl-ds_doctor -l snapshot -d 'A saved cluster instead of a live one: a file, a directory, or - for standard input (repeatable); made by: kubectl get ds,pods,nodes,controllerrevisions,events -A -o yaml' -r -F
complete -c kubectl-ds_doctor -l server-version -d 'The Kubernetes version whose rules apply, such as v1.34 [default: the cluster\'s]' -r
complete -c kubectl-ds_doctor -l save-snapshot -d 'Write what was read to a file, to attach or to replay with --snapshot: only the fields used, no environment values, no secrets; .gz and .zst are packed' -r -F
complete -c kubectl-ds_doctor -s f -l filename -d 'Judge a manifest that is not applied, on that cluster: where its pods would run, wait, be refused; a file, a directory, or - for standard input (repeatable). Nothing is created' -r -F
complete -c kubectl-ds_doctor -l dry-run -d 'With -f, have the API server check the DaemonSet and a pod of it, too: none or server' -r -f -a "none\t''
server\t''"
complete -c kubectl-ds_doctor -l what-if -d 'Judge the DaemonSet as a patch would make it, against what it is: a file, - for standard input, or the patch itself' -r
complete -c kubectl-ds_doctor -l patch-type -d 'How that patch is meant [default: json for a list, else strategic]' -r -f -a "strategic\t''
merge\t''
json\t''"
complete -c kubectl-ds_doctor -l now -d 'The moment that ages are counted to, in RFC 3339' -r
complete -c kubectl-ds_doctor -s o -l output -d 'How to write the report' -r -f -a "text\t'For people'
wide\t'Every node and check as a matrix'
json\t'The contract `ds-doctor/v1`'
yaml\t'The same as YAML'
markdown\t'For an incident channel'
name\t'The nodes and pods concerned, one a line'"
complete -c kubectl-ds_doctor -l color -d 'When to use colour; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t''
always\t''
never\t''"
complete -c kubectl-ds_doctor -l timeout -d 'How long to wait before reporting what is still wrong; 0 is for ever' -r
complete -c kubectl-ds_doctor -l explain -d 'Explain a cause by its code, or an alert by its name; or list all codes' -r
complete -c kubectl-ds_doctor -l fail-on -d 'The least severity of a cause that makes the exit code 1' -r -f -a "error\t'A wanted pod is absent or unhealthy, or a rollout is stuck'
warning\t'What is likely not meant'
info\t'Anything at all'
never\t'None'"
complete -c kubectl-ds_doctor -l kubeconfig -d 'Path of the kubeconfig file' -r -F
complete -c kubectl-ds_doctor -l context -d 'The kubeconfig\'s context to use' -r
complete -c kubectl-ds_doctor -l cluster -d 'The kubeconfig\'s cluster to use' -r
complete -c kubectl-ds_doctor -l user -d 'The kubeconfig\'s user to use' -r
complete -c kubectl-ds_doctor -s s -l server -d 'Address of the API server' -r
complete -c kubectl-ds_doctor -l token -d 'Bearer token for the API server' -r
complete -c kubectl-ds_doctor -l as -d 'Impersonate this user' -r
complete -c kubectl-ds_doctor -l as-group -d 'Impersonate this group (repeatable)' -r
complete -c kubectl-ds_doctor -l as-uid -d 'Impersonate this UID' -r
complete -c kubectl-ds_doctor -l certificate-authority -d 'Certificate file of the authority that signed the API server\'s certificate' -r -F
complete -c kubectl-ds_doctor -l client-certificate -d 'Client certificate file for TLS' -r -F
complete -c kubectl-ds_doctor -l client-key -d 'Client key file for TLS' -r -F
complete -c kubectl-ds_doctor -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate' -r -f -a "true\t''
false\t''"
complete -c kubectl-ds_doctor -l tls-server-name -d 'The name that the API server\'s certificate must have' -r
complete -c kubectl-ds_doctor -l request-timeout -d 'How long one request may take, such as 5s; 0 is no limit' -r
complete -c kubectl-ds_doctor -l deadline -d 'How long reading the cluster may take in all' -r
complete -c kubectl-ds_doctor -s A -l all-namespaces -d 'Look in all namespaces'
complete -c kubectl-ds_doctor -l ascii -d 'Draw with ASCII characters only'
complete -c kubectl-ds_doctor -s w -l watch -d 'Stay, and show what changes, until Ctrl-C'
complete -c kubectl-ds_doctor -l wait -d 'Wait until every node has a healthy, current pod, then report'
complete -c kubectl-ds_doctor -l lint -d 'Only advice on the DaemonSets themselves: what harms nothing now and may harm later (with -o text, json or yaml); advice that bears on what is wrong now counts as a warning, the rest as info'
complete -c kubectl-ds_doctor -s h -l help -d 'Print this'
complete -c kubectl-ds_doctor -s V -l version -d 'Print the version'
