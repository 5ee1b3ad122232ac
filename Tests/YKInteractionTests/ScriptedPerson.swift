// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKInteraction
import YKProtocols

/// A person who gives these answers in turn, and then declines.
final class ScriptedPerson: CredentialPrompt {
    private struct State {
        var secrets: [SharedSecret] = []
        var requests: [CredentialRequest] = []
        var isThere = true
        var failure: (any Error)?
        var onAsked: @Sendable () async -> Void = {}
    }

    private let state = Mutex(State())

    /// The answers to come.
    var secrets: [SharedSecret] {
        get { state.withLock { $0.secrets } }
        set { state.withLock { $0.secrets = newValue } }
    }
    /// The answers to come, as texts.
    var answers: [String] {
        get { secrets.map { String(decoding: $0.value.copyBytes(), as: UTF8.self) } }
        set { secrets = newValue.map { SharedSecret(Secret(utf8: $0)) } }
    }
    /// What was asked.
    var requests: [CredentialRequest] { state.withLock { $0.requests } }
    /// Whether there is anybody.
    var isThere: Bool {
        get { state.withLock { $0.isThere } }
        set { state.withLock { $0.isThere = newValue } }
    }
    /// What asking fails with.
    var failure: (any Error)? {
        get { state.withLock { $0.failure } }
        set { state.withLock { $0.failure = newValue } }
    }
    /// What happens before an answer.
    var onAsked: @Sendable () async -> Void {
        get { state.withLock { $0.onAsked } }
        set { state.withLock { $0.onAsked = newValue } }
    }

    nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws -> SharedSecret? {
        guard isThere else { return nil }
        state.withLock { $0.requests.append(request) }
        await onAsked()
        if let failure { throw failure }
        let answer = state.withLock { $0.secrets.isEmpty ? nil : $0.secrets.removeFirst() }
        guard let answer else { throw Declined() }
        return answer
    }
}

/// A source with one credential for every request, or none.
struct Given: CredentialSource {
    let secret: SharedSecret?
    let isGivenNow: Bool

    init(_ text: String?, isGivenNow: Bool = true) {
        secret = text.map { SharedSecret(Secret(utf8: $0)) }
        self.isGivenNow = isGivenNow
    }

    func has(_ request: CredentialRequest) -> Bool { secret != nil }

    nonisolated(nonsending) func credential(_ request: CredentialRequest) async throws -> SharedSecret? { secret }
}

/// A key's refusal.
struct Refusal: CredentialRefusal {
    let refusedCredential: RefusedCredential?
}

/// An error that says nothing about a credential.
struct Lost: Error {}

/// Holds back whoever comes before it is opened.
final class Gate: Sendable {
    private let state = Mutex((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
