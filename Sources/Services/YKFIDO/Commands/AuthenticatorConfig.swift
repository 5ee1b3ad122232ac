// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

/// Changes how a key behaves (authenticatorConfig, CTAP 2.2 §6.11).
public struct AuthenticatorConfig: CTAPCommand, Sendable, Hashable {
    /// No response data.
    public typealias Response = Void

    /// What to change.
    public enum Change: Hashable, Sendable {
        /// Enables enterprise attestation; only a reset disables it.
        case enableEnterpriseAttestation
        /// Toggles whether user verification is always required.
        case toggleAlwaysUV
        /// Sets the PIN rules.
        case pinRules(PINRules)
        /// Requires a long touch for a reset (CTAP 2.3); only a reset undoes it.
        case enableLongTouchForReset
        /// A vendor command.
        case vendor(CBOR.Map)
    }

    /// The PIN rules; `nil` or false leaves a rule unchanged.
    public struct PINRules: Hashable, Sendable {
        /// The minimum PIN length in code points; it can only be raised.
        public var minLength: UInt64?
        /// The relying parties that receive the minimum PIN length.
        public var rpIDs: [String] = []
        /// Whether the PIN must be changed before it can be used again.
        public var forcesChange = false
        /// Whether PINs must be complex.
        public var requiresComplexity = false
        /// Creates rules that change nothing.
        public init() {}
    }

    private typealias Key = CTAPProtocol.Config.Request

    let change: Change
    let auth: PINUVAuth?

    /// Creates a command; keys without a PIN need no proof.
    public init(_ change: Change, auth: PINUVAuth?) {
        self.change = change
        self.auth = auth
    }

    /// The command byte.
    public var code: CTAPCommandCode { .config }

    /// The name in the specification, including the subcommand.
    public var name: String { "config \(change.kind.name)" }

    /// The parameters.
    public var parameters: CBOR.Map? {
        var map = CBOR.Map(keys: [Key.subCommand: change.kind.cbor])
        map[Key.subCommandParams] = change.parameters.map(CBOR.map)
        map.set(auth, at: Key.pinUvAuthParam, Key.pinUvAuthProtocol)
        return map
    }
}

extension AuthenticatorConfig.Change {
    private typealias Parameter = CTAPProtocol.Config.Parameters

    /// The subcommand number.
    public var subcommand: UInt64 { kind.rawValue }

    fileprivate var kind: CTAPProtocol.Config.Subcommand {
        switch self {
        case .enableEnterpriseAttestation: .enableEnterpriseAttestation
        case .toggleAlwaysUV: .toggleAlwaysUv
        case .pinRules: .setMinPINLength
        case .enableLongTouchForReset: .enableLongTouchForReset
        case .vendor: .vendorPrototype
        }
    }

    var parameters: CBOR.Map? {
        switch self {
        case .enableEnterpriseAttestation, .toggleAlwaysUV, .enableLongTouchForReset: return nil
        case .vendor(let map): return map
        case .pinRules(let rules):
            var map = CBOR.Map()
            map[Parameter.newMinPINLength] = rules.minLength.map(CBOR.unsigned)
            if !rules.rpIDs.isEmpty { map[Parameter.minPinLengthRPIDs] = .array(rules.rpIDs.map(CBOR.text)) }
            if rules.forcesChange { map[Parameter.forceChangePin] = true }
            if rules.requiresComplexity { map[Parameter.pinComplexityPolicy] = true }
            return map
        }
    }

    /// The bytes that pinUvAuthParam authenticates (CTAP 2.2 §6.11).
    var authenticated: [UInt8] {
        [UInt8](repeating: 0xFF, count: 32) + [CTAPProtocol.Command.config, UInt8(truncatingIfNeeded: subcommand)]
            + (parameters.map { CBOR.map($0).encoded } ?? [])
    }
}
