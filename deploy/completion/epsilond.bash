# bash completion for epsilond: its commands, its options as --help lists them, and paths.
_epsilond() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    case $before in
        --data-dir | --head-file | --config | --tls-cert | --tls-key | --outbound-ca | --blobs-key-file | --from | --to | backup | restore)
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
            mapfile -t COMPREPLY < <(compgen -W "api worker api,worker" -- "$current")
            return
            ;;
    esac
    local words
    words=$(epsilond --help 2>/dev/null | grep -oE -e '--[a-z][a-z-]*' | sort -u)
    [ "${COMP_WORDS[1]}" != migrate ] || words="--from --to $words"
    [ "$COMP_CWORD" != 1 ] || words="verify backup restore migrate ping rank regrant key --help --version $words"
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _epsilond epsilond
