// SPDX-License-Identifier: Apache-2.0

extension FIDOService {
    /// Changes how the key behaves (authenticatorConfig). What the key says that it does not have is refused before
    /// anything is sent.
    public func configure(_ change: AuthenticatorConfig.Change) throws(FIDOError) {
        let info = try session.info()
        guard info.option(.authnrCfg) == true else { throw .unsupported("authnrCfg") }
        if let known = info.configCommands, !known.contains(change.subcommand) {
            throw .unsupported("authenticatorConfigCommands \(change.subcommand)")
        }
        switch change {
        case .enableEnterpriseAttestation where info.option(.ep) == nil: throw .unsupported("ep")
        case .toggleAlwaysUV where info.option(.alwaysUv) == nil: throw .unsupported("alwaysUv")
        case .pinRules where info.option(.setMinPINLength) != true: throw .unsupported("setMinPINLength")
        default: break
        }
        try session.authorized(over: change.authenticated, .config) { auth throws(FIDOError) in
            try session.send(AuthenticatorConfig(change, auth: auth))
        }
        session.infoDidChange()
        if case .pinRules = change { session.token = nil }
    }
}
