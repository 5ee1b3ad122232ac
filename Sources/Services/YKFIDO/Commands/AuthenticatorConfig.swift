// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Changes how a key behaves (authenticatorConfig, CTAP 2.2 §6.11).
public struct AuthenticatorConfig: CTAPCommand, Sendable, Hashable {
    /// No response data.
    public typealias Response = Void

    /// What to change.
    public enum Change: Hashable, Sendable {
        /// Enterprise attestation becomes possible; only a reset takes it back.
        case enableEnterpriseAttestation
        /// User verification is always required, or no longer.
        case toggleAlwaysUV
        /// The rules for the PIN.
        case pinRules(PINRules)
        /// A command of the vendor's.
        case vendor(CBOR.Map)
    }

    /// The rules for the PIN; what is `nil` or false stays as it is.
    public struct PINRules: Hashable, Sendable {
        /// The shortest PIN in code points; it can only grow.
        public var minLength: UInt64?
        /// The relying parties that are told the shortest length.
        public var rpIDs: [String] = []
        /// Whether the PIN has to be changed before anything else works.
        public var forcesChange = false
        /// Whether PINs have to be complex.
        public var requiresComplexity = false
        /// Makes rules that change nothing.
        public init() {}
    }

    let change: Change
    let auth: PINUVAuth?

    /// Creates a command; without a proof for keys that have no PIN.
    public init(_ change: Change, auth: PINUVAuth?) {
        self.change = change
        self.auth = auth
    }

    /// The command byte.
    public var code: CTAPCommandCode { .config }

    /// The name in the specification, with the subcommand's.
    public var name: String {
        switch change {
        case .enableEnterpriseAttestation: "config enableEnterpriseAttestation"
        case .toggleAlwaysUV: "config toggleAlwaysUv"
        case .pinRules: "config setMinPINLength"
        case .vendor: "config vendorPrototype"
        }
    }

    /// The parameters.
    public var parameters: CBOR.Map? {
        var map: CBOR.Map = [1: .unsigned(change.subcommand)]
        map[2] = change.parameters.map(CBOR.map)
        map[3] = auth.map { .unsigned($0.version) }
        map[4] = auth.map { .bytes($0.parameter) }
        return map
    }
}

extension AuthenticatorConfig.Change {
    /// The number of the subcommand.
    public var subcommand: UInt64 {
        switch self {
        case .enableEnterpriseAttestation: 1
        case .toggleAlwaysUV: 2
        case .pinRules: 3
        case .vendor: 0xFF
        }
    }

    var parameters: CBOR.Map? {
        switch self {
        case .enableEnterpriseAttestation, .toggleAlwaysUV: return nil
        case .vendor(let map): return map
        case .pinRules(let rules):
            var map = CBOR.Map()
            map[1] = rules.minLength.map(CBOR.unsigned)
            if !rules.rpIDs.isEmpty { map[2] = .array(rules.rpIDs.map(CBOR.text)) }
            if rules.forcesChange { map[3] = true }
            if rules.requiresComplexity { map[4] = true }
            return map
        }
    }

    /// What pinUvAuthParam is over (CTAP 2.2 §6.11).
    var authenticated: [UInt8] {
        [UInt8](repeating: 0xFF, count: 32) + [0x0D, UInt8(truncatingIfNeeded: subcommand)]
            + (parameters.map { CBOR.map($0).encoded } ?? [])
    }
}
