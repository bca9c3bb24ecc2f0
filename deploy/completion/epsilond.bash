# bash completion for epsilond: its commands, its options as --help lists them, and paths.
_epsilond() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    case $before in
        --data-dir | --head-file | --config | --tls-cert | --tls-key | --groups | --outbound-ca | --blobs-key-file | --archive | --from | --to | backup | restore)
            mapfile -t COMPREPLY < <(compgen -o plusdirs -f -- "$current")
            return
            ;;
        --log-level)
            mapfile -t COMPREPLY < <(compgen -W "debug info warning error" -- "$current")
            return
            ;;
        --ui | --audit-ip | --approvals | --behind-proxy | --single-server | --migrate | --check-objects)
            mapfile -t COMPREPLY < <(compgen -W "on off" -- "$current")
            return
            ;;
        --role)
            local roles="api worker api,worker"
            [ "${COMP_WORDS[1]}" != key ] || roles="analyst data_owner privacy_officer operator auditor"
            mapfile -t COMPREPLY < <(compgen -W "$roles" -- "$current")
            return
            ;;
    esac
    local words
    if [ "${COMP_WORDS[1]}" = key ] && [ "$COMP_CWORD" = 2 ]; then
        mapfile -t COMPREPLY < <(compgen -W "create list revoke" -- "$current")
        return
    fi
    words=$(epsilond --help 2>/dev/null | grep -oE -e '--[a-z][a-z-]*' | sort -u)
    case ${COMP_WORDS[1]} in
        migrate) words="--from --to $words" ;;
        seal) words="--archive $words" ;;
        verify) words="--from-genesis --archive $words" ;;
        regrant) words="--epsilon --delta --order --discovery-delta --acknowledge $words" ;;
        key) words="--owner --role --project --expires --scopes $words" ;;
    esac
    [ "$COMP_CWORD" != 1 ] || words="verify seal backup restore migrate ping rank regrant key --help --version --demo $words"
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _epsilond epsilond
