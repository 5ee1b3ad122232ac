// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// An OpenSSL key handle, freed on deinit.
struct OpenSSLKey: ~Copyable {
    let handle: ykit_key

    /// Throws when OpenSSL 3 is not installed.
    static func requireLibrary() throws(CryptoFault) {
        guard ykit_openssl() == 1 else { throw .noOpenSSL }
    }

    init(_ handle: ykit_key?, _ what: @autoclosure () -> String) throws(CryptoFault) {
        try Self.requireLibrary()
        guard let handle else { throw CryptoFault(what()) }
        self.handle = handle
    }

    /// Reads a private key: PKCS#8, PKCS#1 or SEC 1.
    init(privateDER bytes: [UInt8]) throws(CryptoFault) {
        try self.init(ykit_key_private(bytes, bytes.count), "not a private key")
    }

    init(publicDER bytes: [UInt8]) throws(CryptoFault) {
        try self.init(ykit_key_public(bytes, bytes.count), "not a public key")
    }

    deinit { ykit_key_free(handle) }

    /// Lets a function write into `room` bytes; throws when it reports failure.
    static func output(
        _ room: Int, _ what: @autoclosure () -> String, _ body: (UnsafeMutablePointer<UInt8>?, Int) -> Int
    ) throws(CryptoFault) -> [UInt8] {
        var result = -1
        let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            result = body(buffer.baseAddress, room)
            count = max(0, min(room, result))
        }
        guard result >= 0 else { throw CryptoFault(what()) }
        return bytes
    }

    borrowing func number(_ name: String, room: Int = 1024) throws(CryptoFault) -> [UInt8] {
        try Self.output(room, "the key has no \(name)") { ykit_key_number(handle, name, $0, $1) }
    }

    borrowing func bytes(_ name: String) throws(CryptoFault) -> [UInt8] {
        try Self.output(1024, "the key has no \(name)") { ykit_key_bytes(handle, name, $0, $1) }
    }

    borrowing func text(_ read: (ykit_key?, UnsafeMutablePointer<CChar>?, Int) -> Int) throws(CryptoFault) -> String {
        let bytes = try Self.output(64, "a key of an unknown kind") { buffer, room in
            buffer?.withMemoryRebound(to: CChar.self, capacity: room) { read(handle, $0, room) } ?? -1
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension CryptoFault {
    /// OpenSSL 3 is not installed.
    public static let noOpenSSL = CryptoFault("OpenSSL: libcrypto.so.3 is not installed")
}
