// SPDX-License-Identifier: Apache-2.0

extension FIDOService {
    /// Changes how the key behaves (authenticatorConfig), and reads back what getInfo tells of it.
    ///
    /// - Throws: `unsupported`, before anything is sent, for what the key says that it does not have; `notApplied` when
    ///   the key accepted the change and does not say afterwards that it is so.
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
        guard let missing = change.missing(before: info, after: try session.info()) else { return }
        throw .notApplied(missing)
    }
}

extension AuthenticatorConfig.Change {
    /// What a key does not say of itself although it should after this change; `nil` when nothing is missing. Which
    /// relying parties are told the shortest length cannot be read back.
    fileprivate func missing(before: AuthenticatorInfo, after: AuthenticatorInfo) -> String? {
        switch self {
        case .enableEnterpriseAttestation: after.option(.ep) == true ? nil : "enterprise attestation"
        case .toggleAlwaysUV:
            after.option(.alwaysUv) == before.option(.alwaysUv) ? "the switch of user verification" : nil
        case .pinRules(let rules):
            if let length = rules.minLength, after.minPINLength < length {
                "the shortest PIN"
            } else if rules.forcesChange, !after.mustChangePIN {
                "the change of the PIN"
            } else if rules.requiresComplexity, after.hasPINComplexityPolicy != true {
                "the rule that PINs are complex"
            } else {
                nil
            }
        case .vendor: nil
        }
    }
}
