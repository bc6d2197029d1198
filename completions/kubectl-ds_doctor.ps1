
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'kubectl-ds_doctor' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'kubectl-ds_doctor'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'kubectl-ds_doctor' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'The namespace to look in')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'The namespace to look in')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only DaemonSets with these labels, such as app=web,tier!=test')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only DaemonSets with these labels, such as app=web,tier!=test')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Only this node, with every check on it (repeatable)')
            [CompletionResult]::new('--snapshot', '--snapshot', [CompletionResultType]::ParameterName, 'A saved cluster instead of a live one: a file, a directory, or - for standard input (repeatable); made by: kubectl get ds,pods,nodes,controllerrevisions,events -A -o yaml')
            [CompletionResult]::new('--server-version', '--server-version', [CompletionResultType]::ParameterName, 'The Kubernetes version whose rules apply, such as v1.34 [default: the cluster''s]')
            [CompletionResult]::new('--save-snapshot', '--save-snapshot', [CompletionResultType]::ParameterName, 'Write what was read to a file, to attach or to replay with --snapshot: only the fields used, no environment values, no secrets; .gz and .zst are packed')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Judge a manifest that is not applied, on that cluster: where its pods would run, wait, be refused; a file, a directory, or - for standard input (repeatable). Nothing is created')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'Judge a manifest that is not applied, on that cluster: where its pods would run, wait, be refused; a file, a directory, or - for standard input (repeatable). Nothing is created')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'With -f, have the API server check the DaemonSet and a pod of it, too: none or server')
            [CompletionResult]::new('--what-if', '--what-if', [CompletionResultType]::ParameterName, 'Judge the DaemonSet as a patch would make it, against what it is: a file, - for standard input, or the patch itself')
            [CompletionResult]::new('--patch-type', '--patch-type', [CompletionResultType]::ParameterName, 'How that patch is meant [default: json for a list, else strategic]')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The moment that ages are counted to, in RFC 3339')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'How to write the report')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to write the report')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR and CLICOLOR_FORCE are honoured')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long to wait before reporting what is still wrong; 0 is for ever')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Explain a cause by its code, or an alert by its name; or list all codes')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'The least severity of a cause that makes the exit code 1')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Path of the kubeconfig file')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The kubeconfig''s context to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The kubeconfig''s cluster to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The kubeconfig''s user to use')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token for the API server')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Impersonate this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Impersonate this group (repeatable)')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'Impersonate this UID')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'Certificate file of the authority that signed the API server''s certificate')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'Client certificate file for TLS')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'Client key file for TLS')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the API server''s certificate')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name that the API server''s certificate must have')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request may take, such as 5s; 0 is no limit')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'How long reading the cluster may take in all')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Look in all namespaces')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Look in all namespaces')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with ASCII characters only')
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'Stay, and show what changes, until Ctrl-C')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'Stay, and show what changes, until Ctrl-C')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until every node has a healthy, current pod, then report')
            [CompletionResult]::new('--lint', '--lint', [CompletionResultType]::ParameterName, 'Only advice on the DaemonSets themselves: what harms nothing now and may harm later (with -o text, json or yaml); advice that bears on what is wrong now counts as a warning, the rest as info')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
