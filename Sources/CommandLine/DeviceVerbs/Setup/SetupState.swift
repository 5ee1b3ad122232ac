// SPDX-License-Identifier: Apache-2.0

import Applications
import Glibc
import TerminalIO
import Verbs
import YKDesktop
import YKFIDO
import YKInventory
import YKKeys
import YKManagement
import YKPIV
import YKProtocols
import YKTransport
import YKWire

/// How far a key is set up, as it reports without a PIN or a touch.
struct SetupState: Sendable {
    /// The key's details; `nil` without a key.
    var key: KeyDetails?
    /// What the key reports about FIDO2; `nil` for a key without it.
    var authenticator: AuthenticatorInfo?
    /// What the key reports about PIV; `nil` for a key without it.
    var piv: PIVAccess?
    /// Whether a key file in ~/.ssh names a credential of this key; `nil` if the key does not report it.
    var hasSSHKey: Bool?
    /// The home folder of the person.
    var home: String?
    /// Whether OpenPGP is enabled, as far as the key reports its applications.
    var hasOpenPGP = false
    /// Whether YubiHSM Auth is enabled, as far as the key reports its applications.
    var hasHSMAuth = false
    /// What the guard needs on this machine; nothing of it for a virtual key.
    var guardParts = GuardParts()
    /// Whether the person is at a desktop.
    var hasDesktop = false

    /// Which PIV secrets are the factory defaults; `nil` if the key does not report it, as before firmware 5.3.
    struct PIVAccess: Sendable {
        let hasDefaultPIN: Bool?
        let hasDefaultPUK: Bool?
        let hasDefaultManagementKey: Bool?
    }

    /// What is known without a key.
    init(of run: Run) {
        home = run.variable("HOME")
        hasDesktop = run.stage.desktop.isGraphical
        if case .machine = run.keys.source { guardParts = .find(home: home) }
    }

    init() {}

    /// Reads the state of the selected key.
    static func read(in run: Run) async throws -> SetupState {
        let report = try await run.choosing { try await $0.report() }
        let enabled = report.identity.info.map { info in
            info.usb.enabled.union(report.isContactless ? info.nfc?.enabled ?? [] : [])
        }
        var state = SetupState(of: run)
        state.key = KeyDetails(report.identity)
        (state.hasOpenPGP, state.hasHSMAuth) = (
            enabled?.contains(.openPGP) ?? false, enabled?.contains(.hsmAuth) ?? false
        )
        if enabled?.contains(.fido2) != false {
            state.authenticator = try await authenticator(in: run)
            if state.authenticator != nil { state.hasSSHKey = try await hasSSHKey(in: run) }
        }
        if enabled?.contains(.piv) != false { state.piv = try await piv(in: run) }
        return state
    }

    private static func authenticator(in run: Run) async throws -> AuthenticatorInfo? {
        try await unlessMissing {
            let service = try await run.openFIDO()
            return await service.hasCTAP2 ? try await service.freshInfo() : nil
        }
    }

    /// Asks the key, without a touch, for the credentials of the key files in ~/.ssh.
    private static func hasSSHKey(in run: Run) async throws -> Bool? {
        try await unlessMissing {
            let service = try await run.openFIDO()
            var isReported = true
            for file in InventoryFiles.sshKeys(run) {
                for reference in (try? InventoryFiles.references(of: file)) ?? [] {
                    guard case .credential(let id, let rpID) = reference.test else {
                        isReported = false
                        continue
                    }
                    if try await service.owns(id, rpID: rpID) { return true }
                }
            }
            return isReported ? false : nil
        }
    }

    private static func piv(in run: Run) async throws -> PIVAccess? {
        try await unlessMissing {
            let service = try await run.openPIV()
            return PIVAccess(
                hasDefaultPIN: try await service.metadata(of: .pin)?.isDefault,
                hasDefaultPUK: try await service.metadata(of: .puk)?.isDefault,
                hasDefaultManagementKey: try await service.managementKeyMetadata()?.isDefault)
        }
    }

    /// Returns the result of `read`, or `nil` for a key without the application or without an interface to it.
    private static func unlessMissing<Part>(_ read: () async throws -> Part?) async throws -> Part? {
        do { return try await read() } catch {
            if case KeyError.none = error { return nil }
            if case .appletMissing? = CardError(causing: error) { return nil }
            throw error
        }
    }
}
