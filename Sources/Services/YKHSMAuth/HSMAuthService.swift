// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKProtocols
public import YKTransport
import YKWire

/// The YubiHSM Auth application of a key: it stores the long-term keys with which a host opens a session to a YubiHSM 2,
/// and calculates the session's keys.
///
/// Every method runs a whole exchange with the key on the service's own thread; concurrent calls never interleave.
public actor HSMAuthService: CardKeyService {
    /// The runtime of the service.
    public nonisolated let runtime: ServiceRuntime
    private let channel: CardChannel
    /// The version of the application, which is that of the firmware.
    public nonisolated let version: FirmwareVersion

    private init(_ session: sending Opened, _ runtime: ServiceRuntime) {
        channel = session.channel
        version = session.version
        self.runtime = runtime
    }

    /// Selects the application.
    ///
    /// - Throws: `card(.appletMissing)` when the key has none, or it is disabled.
    public static func open(_ channel: sending CardChannel) async throws(HSMAuthError) -> HSMAuthService {
        let (runtime, session) = try await ServiceRuntime.open(card: channel, HSMAuthError.card) {
            channel throws(HSMAuthError) in try Opened(channel)
        }
        return HSMAuthService(session, runtime)
    }

    /// Lets other programs use the card until the next operation.
    public func rest() { channel.rest() }

    /// The number of exchanges with the card.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: channel.exchanges) }

    /// Closes the connection to the card.
    public func close() { channel.close() }

    // MARK: - Credentials

    /// Lists the credentials in the key's order (LIST).
    public func credentials() throws(HSMAuthError) -> [HSMAuthCredential] { try send(ListCredentials()) }

    /// Stores a credential (PUT CREDENTIAL).
    ///
    /// - Parameters:
    ///   - password: Required by every CALCULATE; after eight wrong ones the key deletes the credential.
    ///   - needsTouch: Whether CALCULATE requires a touch. This cannot be changed later.
    /// - Throws: `wrongManagementKey`, `credentialExists`, `full`, `unsupported`, `badKeyLength`.
    public func add(
        _ label: HSMAuthLabel, _ key: HSMAuthKey, password: borrowing HSMAuthPassword, needsTouch: Bool = false,
        managementKey: borrowing HSMAuthPassword
    ) throws(HSMAuthError) {
        switch key {
        case .symmetric(let encryption, let mac):
            for key in [encryption, mac] where key.value.count != 16 { throw .badKeyLength(key.value.count) }
        case .p256(let number):
            try require(.asymmetric)
            guard number.value.count == 32 else { throw .badKeyLength(number.value.count) }
        case .generatedP256: try require(.asymmetric)
        }
        try send(
            PutCredential(label, key, password: password, needsTouch: needsTouch, managementKey: managementKey),
            giving: .managementKey, label)
    }

    /// Deletes a credential (DELETE CREDENTIAL).
    public func delete(
        _ label: HSMAuthLabel, managementKey: borrowing HSMAuthPassword
    ) throws(HSMAuthError) {
        try send(DeleteCredential(label, managementKey: managementKey), giving: .managementKey, label)
    }

    /// The public key of a P-256 credential (GET PUBLIC KEY).
    ///
    /// - Throws: `notAsymmetric`, `noSuchCredential`, `unsupported`.
    public func publicKey(of label: HSMAuthLabel) throws(HSMAuthError) -> PublicKey {
        try require(.asymmetric)
        return .ec(.p256, point: try send(GetPublicKey(label: label), label))
    }

    /// Changes a credential's password (CHANGE CREDENTIAL PASSWORD, firmware 5.8).
    public func changePassword(
        of label: HSMAuthLabel, from old: borrowing HSMAuthPassword, to new: borrowing HSMAuthPassword
    ) throws(HSMAuthError) {
        try require(.passwordChange)
        try send(ChangeCredentialPassword(of: label, from: old, to: new), giving: .password, label)
    }

    /// Sets a credential's password with the management key (CHANGE CREDENTIAL PASSWORD, firmware 5.8).
    public func setPassword(
        of label: HSMAuthLabel, to new: borrowing HSMAuthPassword, managementKey: borrowing HSMAuthPassword
    ) throws(HSMAuthError) {
        try require(.passwordChange)
        try send(
            SetCredentialPassword(of: label, managementKey: managementKey, to: new), giving: .managementKey, label)
    }

    // MARK: - Management

    /// Reads the remaining retries of the management key (GET MANAGEMENT KEY RETRIES).
    public func managementKeyRetries() throws(HSMAuthError) -> Int { try send(GetManagementKeyRetries()) }

    /// Changes the management key (PUT MANAGEMENT KEY).
    public func changeManagementKey(
        from old: borrowing HSMAuthPassword, to new: borrowing HSMAuthPassword
    ) throws(HSMAuthError) {
        try send(PutManagementKey(from: old, to: new), giving: .managementKey, nil)
    }

    /// Deletes all credentials and resets the management key to its default (RESET); it requires no authentication.
    public func reset() throws(HSMAuthError) { try send(ResetHSMAuth()) }

    // MARK: - Sessions

    /// The challenge that the host sends to the HSM (GET CHALLENGE): 8 random bytes, or for a P-256 credential the 65
    /// bytes of a new ephemeral public key, whose private half the key keeps for the next ``sessionKeys(_:hostPoint:hsmPoint:hsmKey:receipt:password:)``.
    ///
    /// - Parameter password: Sent from firmware 5.7.1 on, where a P-256 credential requires it.
    public func challenge(
        _ label: HSMAuthLabel, password: borrowing HSMAuthPassword
    ) throws(HSMAuthError) -> [UInt8] {
        try require(.challenge)
        guard isAtLeast(FirmwareVersion(5, 7, 1)) else { return try send(GetHostChallenge(label), label) }
        return try send(GetHostChallenge(label, password: password), giving: .password, label)
    }

    /// The same for a symmetric credential, which requires no password.
    public func challenge(_ label: HSMAuthLabel) throws(HSMAuthError) -> [UInt8] {
        try require(.challenge)
        return try send(GetHostChallenge(label), label)
    }

    /// Calculates the session keys of a symmetric credential (SCP03 as the HSM speaks it).
    ///
    /// - Parameters:
    ///   - hostChallenge: 8 bytes, from ``challenge(_:)`` or drawn by the host.
    ///   - hsmChallenge: 8 bytes, the HSM's answer to it.
    ///   - cryptogram: 8 bytes with which the HSM proves that it has the same keys; verified by the key and here.
    /// - Throws: `notAuthentic` when the cryptogram is wrong: then no keys are returned.
    public func sessionKeys(
        _ label: HSMAuthLabel, hostChallenge: [UInt8], hsmChallenge: [UInt8], cryptogram: [UInt8]? = nil,
        password: borrowing HSMAuthPassword
    ) throws(HSMAuthError) -> HSMSessionKeys {
        guard hostChallenge.count == 8, hsmChallenge.count == 8 else { throw .badContext("a challenge has 8 bytes") }
        if let cryptogram, cryptogram.count != 8 { throw .badContext("a cryptogram has 8 bytes") }
        let keys = try send(
            CalculateSessionKeys(
                label, hostChallenge: hostChallenge, hsmChallenge: hsmChallenge, cryptogram: cryptogram,
                password: password), giving: .password, label)
        guard let cryptogram else { return keys }
        let expected: [UInt8]
        do {
            expected = try AESCMAC.derive(
                keys.mac.value, label: [UInt8](repeating: 0, count: 12), context: hostChallenge + hsmChallenge,
                length: 8
            ).copyBytes()
        } catch { throw .crypto(error) }
        guard constantTimeEqual(expected, cryptogram) else { throw .notAuthentic }
        return keys
    }

    /// Calculates the session keys of a P-256 credential.
    ///
    /// - Parameters:
    ///   - hostPoint: What ``challenge(_:password:)`` returned.
    ///   - hsmPoint: The HSM's ephemeral public key, 65 bytes.
    ///   - hsmKey: The HSM's static public key, 65 bytes, obtained beforehand: it identifies the HSM.
    ///   - receipt: 16 bytes; the key compares them.
    /// - Throws: `notAuthentic` when the receipt is wrong, `noChallenge`.
    public func sessionKeys(
        _ label: HSMAuthLabel, hostPoint: [UInt8], hsmPoint: [UInt8], hsmKey: [UInt8], receipt: [UInt8],
        password: borrowing HSMAuthPassword
    ) throws(HSMAuthError) -> HSMSessionKeys {
        try require(.asymmetric)
        for point in [hostPoint, hsmPoint, hsmKey] where point.count != 65 || point[0] != 0x04 {
            throw .badContext("a public key has 65 bytes, the first is 04")
        }
        guard receipt.count == 16 else { throw .badContext("a receipt has 16 bytes") }
        return try send(
            CalculateSessionKeys(
                label, hostPoint: hostPoint, hsmPoint: hsmPoint, hsmKey: hsmKey, receipt: receipt, password: password),
            giving: .password, label)
    }

    // MARK: - Exchanges

    private func isAtLeast(_ wanted: FirmwareVersion) -> Bool {
        // A pre-release reports version 0.x and supports everything.
        version.major == 0 || version >= wanted
    }

    private func require(_ feature: HSMAuthFeature) throws(HSMAuthError) {
        guard isAtLeast(feature.firstVersion) else { throw .unsupported(feature, has: version) }
    }

    private func send<Command: CardCommand>(
        _ command: Command, giving secret: HSMAuthSecret = .none, _ label: HSMAuthLabel? = nil
    ) throws(HSMAuthError) -> Command.Response {
        do { return try channel.send(command) } catch { throw HSMAuthError(error, giving: secret, label: label) }
    }
}

/// A channel with the application selected.
private final class Opened {
    let channel: CardChannel
    let version: FirmwareVersion

    init(_ channel: sending CardChannel) throws(HSMAuthError) {
        do {
            let reply = try channel.select(.hsmAuth)
            version = try lift({ CardError.malformed($0, during: "SELECT") }) { () throws(WireError) in
                try FirmwareVersion(bytes: try TLV.list(reply).required(HSMAuthProtocol.Tag.version, "version"))
            }
        } catch { throw .card(error) }
        channel.adapt(to: version)
        self.channel = channel
    }
}
