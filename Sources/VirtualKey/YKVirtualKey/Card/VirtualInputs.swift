// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKCrypto
public import YKTransport
import YKWire

/// The inputs of a virtual key: randomness, and the user's touches.
public struct VirtualInputs: Sendable {
    /// Whether the key is touched.
    public enum Touch: Sendable, Hashable {
        /// The key is touched.
        case touched
        /// The key was not touched in time: the command ends with 6985.
        case notTouched
        /// The key has not been touched yet: the command continues until this changes.
        case pending
    }

    /// The result of a fingerprint verification.
    public enum Verification: Sendable, Hashable {
        /// An enrolled finger.
        case verified
        /// A finger that is not enrolled.
        case wrong
        /// No finger within the time limit.
        case notTouched
        /// No finger yet.
        case pending
    }

    /// Random bytes: challenges and device identifiers.
    public var random: any RandomSource
    /// Called with an account's name whenever the account requires a touch; must not block.
    public var touch: @Sendable (_ account: [UInt8]) -> Touch
    /// Called whenever the user is verified by fingerprint; must not block.
    public var verify: @Sendable () -> Verification = { .verified }
    /// Returns the quality of a fingerprint sample, given the number of good ones before it: 0 is good, otherwise a
    /// code of CTAP 2.2 §6.7.
    public var sample: @Sendable (_ good: Int) -> UInt8 = { _ in 0 }

    /// Called whenever the key is idle: returns the slot to type, 1 for a short touch and 2 for a long one; must not
    /// block.
    public var press: @Sendable () -> Int? = { nil }

    /// Creates inputs; by default the system's randomness, with immediate touches.
    public init(
        random: any RandomSource = SystemRandom(),
        touch: @escaping @Sendable (_ account: [UInt8]) -> Touch = { _ in .touched }
    ) {
        self.random = random
        self.touch = touch
    }

    /// The source of RSA key pairs.
    package var keyPairs = RSAKeyPairs()

    func draw(_ count: Int) throws(Refusal) -> [UInt8] {
        do { return try random.draw(count, secret: false) } catch { throw .status(.memoryFailure) }
    }
}

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
