// SPDX-License-Identifier: Apache-2.0

import YKTransport

extension FIDOService {
    /// Configures the key (authenticatorConfig), and checks the change with getInfo.
    ///
    /// - Throws: `unsupported`, before anything is sent, if the key does not list the feature; `notApplied` if the key
    ///   accepted the change but does not report it afterwards, `unchecked` if it does not answer then.
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
        case .enableLongTouchForReset where info.configCommands == nil || info.needsLongTouchForReset == nil:
            throw .unsupported("longTouchForReset")
        default: break
        }
        try session.authorized(over: change.authenticated, .config) { auth throws(FIDOError) in
            try session.send(AuthenticatorConfig(change, auth: auth))
        }
        session.infoDidChange()
        if case .pinRules = change { session.token = nil }
        let after: AuthenticatorInfo?
        do { after = try session.infoUnlessReplayed() } catch { throw .unchecked(error) }
        guard let after, let missing = change.missing(before: info, after: after) else { return }
        throw .notApplied(missing)
    }
}

extension FIDOSession {
    /// The key's current capabilities; `nil` when replaying a recording that ends before they are read, as older ones
    /// do.
    fileprivate func infoUnlessReplayed() throws(FIDOError) -> AuthenticatorInfo? {
        do { return try info() } catch .ctap(.link(let error)) {
            guard case .replay? = error.link else { throw .ctap(.link(error)) }
            return nil
        }
    }
}

extension AuthenticatorConfig.Change {
    /// What the key should report after this change but does not; `nil` if the change is complete. The relying parties
    /// that receive the minimum length cannot be read back.
    fileprivate func missing(before: AuthenticatorInfo, after: AuthenticatorInfo) -> String? {
        switch self {
        case .enableEnterpriseAttestation: after.option(.ep) == true ? nil : "enterprise attestation"
        case .toggleAlwaysUV:
            after.option(.alwaysUv) == before.option(.alwaysUv) ? "the alwaysUv option" : nil
        case .pinRules(let rules):
            if let length = rules.minLength, after.minPINLength < length {
                "the minimum PIN length"
            } else if rules.forcesChange, !after.mustChangePIN {
                "the forced PIN change"
            } else if rules.requiresComplexity, after.hasPINComplexityPolicy != true {
                "the PIN complexity policy"
            } else {
                nil
            }
        case .enableLongTouchForReset: after.needsLongTouchForReset == true ? nil : "the long touch for a reset"
        case .vendor: nil
        }
    }
}
