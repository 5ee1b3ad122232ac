// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKCrypto
import YKTransport
import YKWire

/// Generates RSA key pairs on separate threads, so that a key that computes for seconds still answers its host.
///
/// A command that needs a pair ends with ``Refusal/computing`` and is retried until the pair is ready. A pair whose
/// command was cancelled is kept for the next command that needs one of that length.
package final class RSAKeyPairs: Sendable {
    private enum Progress: Sendable {
        case computing
        case done(PrivateKey?)
    }

    private let progress = Mutex<[Int: Progress]>([:])
    private let generate: @Sendable (_ bits: Int) -> PrivateKey?

    /// - Parameter generate: Generates a pair of this many bits, or returns `nil` on failure; called on a separate
    ///   thread.
    package init(generate: @escaping @Sendable (_ bits: Int) -> PrivateKey? = { try? PrivateKey(newRSA: $0) }) {
        self.generate = generate
    }

    /// Starts generating a pair of this many bits, unless one is ready or in progress.
    ///
    /// - Throws: `Refusal.computing` until ``take(_:)`` has a pair to return.
    func prepare(_ bits: Int) throws(Refusal) {
        let known = progress.withLock { progress in
            defer { if progress[bits] == nil { progress[bits] = .computing } }
            return progress[bits]
        }
        if case .done = known { return }
        let work: @Sendable () -> Void = { [self] in
            let pair = generate(bits)
            progress.withLock { $0[bits] = .done(pair) }
        }
        if known == nil, !SystemThread.start(work) { return work() }
        throw .computing
    }

    /// Removes and returns the pair.
    ///
    /// - Throws: `Refusal.computing` until there is one, 6581 if generation failed.
    func take(_ bits: Int) throws(Refusal) -> PrivateKey {
        try prepare(bits)
        guard case .done(let pair) = progress.withLock({ $0.removeValue(forKey: bits) }) else { throw .computing }
        guard let pair else { throw .status(.memoryFailure) }
        return pair
    }
}
