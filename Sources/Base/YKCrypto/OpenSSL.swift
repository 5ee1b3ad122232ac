// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// libcrypto of OpenSSL 3, which is loaded when it is first used.
///
/// Without it, functions that throw `CryptoFault` throw one that says so. Hashes and message authentication codes cannot
/// fail otherwise and throw nothing; they end the process, as when memory runs out. ``require()`` finds that out before.
public enum OpenSSL {
    /// Loads the library.
    ///
    /// - Throws: `CryptoFault`, with the reason, when it is missing or lacks a function.
    public static func require() throws(CryptoFault) {
        if let problem = ykit_openssl_problem() { throw CryptoFault(String(cString: problem)) }
    }

    /// Loads the library and its SHA-256, which most uses of a key need next.
    ///
    /// - Throws: `CryptoFault`, as ``require()``.
    package static func load() throws(CryptoFault) {
        try require()
        _ = HashAlgorithm.sha256.hash([])
    }

    /// Loads the library, unless ``whenMissing(_:)`` has set what happens when it is needed and missing: most uses of a card
    /// need none of it, and loading takes a third of a list of accounts.
    ///
    /// - Throws: `CryptoFault`, as ``require()``.
    package static func prepare() throws(CryptoFault) {
        if ykit_openssl_has_handler() == 0 { try require() }
    }

    /// Sets a function that is called with the reason, a sentence, when the library turns out to be missing: a program
    /// that cannot continue without it ends there. Call it before the library is used.
    public static func whenMissing(_ handler: @escaping @convention(c) (UnsafePointer<CChar>?) -> Void) {
        ykit_openssl_on_problem(handler)
    }

    /// The reason why a function failed: the library is missing, or else this.
    static func fault(_ what: String) -> CryptoFault {
        do { try require() } catch { return error }
        return CryptoFault(what)
    }

    /// Ends the process when a function failed that can only fail without the library or without memory.
    static func expect(_ hasSucceeded: Bool) {
        precondition(hasSucceeded, fault("OpenSSL: no memory").description)
    }

    /// Lets a function write into `room` bytes; throws when it reports failure.
    static func output(
        _ room: Int, _ what: @autoclosure () -> String, _ body: (UnsafeMutablePointer<UInt8>?, Int) -> Int
    ) throws(CryptoFault) -> [UInt8] {
        var result = -1
        let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            result = body(buffer.baseAddress, room)
            count = max(0, min(room, result))
        }
        guard result >= 0 else { throw fault(what()) }
        return bytes
    }

    /// Lets a function write a digest, which fails only without the library or without memory.
    static func digest(_ size: Int, _ body: (UnsafeMutablePointer<UInt8>?) -> Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = body(buffer.baseAddress)
            expect(count == size)
        }
    }

    /// Encrypts or decrypts with a cipher by OpenSSL's name, without padding.
    static func cipher(
        _ name: String, _ message: [UInt8], key: borrowing Secret, vector: [UInt8] = [], encrypts: Bool
    ) throws(CryptoFault) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: message.count)
        let status = key.withBytes {
            ykit_cipher(
                name, encrypts ? 1 : 0, $0.octets, $0.count, vector, vector.count, message, message.count, &output)
        }
        guard status == 0 else { throw fault("\(name): a key or a message of the wrong size") }
        return output
    }

    /// The size of the tag of authenticated encryption, at the end of the ciphertext.
    static let tagSize = Int(YKIT_TAG)

    /// Encrypts and authenticates with a cipher by OpenSSL's name; the tag follows the ciphertext.
    static func seal(
        _ name: String, _ plaintext: UnsafePointer<UInt8>?, _ size: Int, key: borrowing Secret, nonce: [UInt8],
        context: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: size + tagSize)
        let status = key.withBytes { key in
            output.withUnsafeMutableBufferPointer {
                ykit_aead(
                    name, 1, key.octets, key.count, nonce, nonce.count, context, context.count, plaintext, size,
                    $0.baseAddress, $0.baseAddress?.advanced(by: size))
            }
        }
        guard status == 0 else { throw fault("\(name): a key or nonce of the wrong size") }
        return output
    }

    /// Decrypts what ``seal(_:_:_:key:nonce:context:)`` encrypted.
    static func open(
        _ name: String, _ sealed: [UInt8], key: borrowing Secret, nonce: [UInt8], context: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        guard sealed.count >= tagSize else { throw CryptoFault("\(name): too short") }
        var (output, tag) = (Array(sealed.dropLast(tagSize)), Array(sealed.suffix(tagSize)))
        let status = key.withBytes {
            ykit_aead(
                name, 0, $0.octets, $0.count, nonce, nonce.count, context, context.count, sealed, output.count, &output,
                &tag)
        }
        guard status == 0 else { throw fault("\(name): not authentic") }
        return output
    }
}

extension UnsafeRawBufferPointer {
    /// The address of the first byte.
    var octets: UnsafePointer<UInt8>? { bindMemory(to: UInt8.self).baseAddress }
}

/// Thrown when a primitive rejects its input or fails to authenticate it. The text names the primitive and never
/// contains the input.
public struct CryptoFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The primitive and the reason.
    public let description: String

    /// Creates a fault.
    public init(_ description: String) { self.description = description }
}
