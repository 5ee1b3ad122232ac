// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
import YKWire

/// The 16-byte lock code that protects the configuration (Yubico management interface, tags 0A and 0B).
public struct LockCode: ~Copyable, Sendable {
    private let secret: Secret

    /// The length of a code in bytes.
    public static let length = 16

    /// Creates a code from 16 bytes, not all of them zero; throws `badLockCode` otherwise.
    public init(_ bytes: some Collection<UInt8>) throws(ManagementError) {
        guard bytes.count == Self.length, bytes.contains(where: { $0 != 0 }) else { throw .badLockCode }
        secret = Secret(bytes)
    }

    /// Parses 32 hexadecimal digits; throws `badLockCode` otherwise.
    public init(hex text: borrowing Secret) throws(ManagementError) {
        var digits = text.copyBytes()
        defer { Secret.wipe(&digits) }
        guard var bytes = try? Hex.decode(String(decoding: digits, as: UTF8.self)) else { throw .badLockCode }
        defer { Secret.wipe(&bytes) }
        try self.init(bytes)
    }

    private init(clearing: Void) { secret = Secret([UInt8](repeating: 0, count: Self.length)) }

    /// Sixteen zero bytes, which remove the code.
    public static var cleared: LockCode { LockCode(clearing: ()) }

    /// Returns a random code.
    public static func random(_ source: any RandomSource) throws(ManagementError) -> LockCode {
        do { return try LockCode(try source.draw(length, secret: true)) } catch let error as LinkError {
            throw .card(.link(error))
        } catch { throw .badLockCode }
    }

    /// Whether it removes the code.
    var clears: Bool { secret.withBytes { $0.allSatisfy { $0 == 0 } } }

    /// The bytes, for the message that carries them.
    var bytes: [UInt8] { secret.copyBytes() }

    /// The 32 digits, for displaying a new code to the user who must keep it.
    public borrowing func revealed() -> String { Hex.encode(secret.copyBytes()) }
}
