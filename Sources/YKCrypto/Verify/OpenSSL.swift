// SPDX-License-Identifier: Apache-2.0

import Glibc

/// OpenSSL's libcrypto, for what swift-crypto lacks. It is opened at its first use: to be linked with it would cost
/// every start of every program almost a millisecond.
struct OpenSSL: Sendable {
    /// The name under which every distribution ships version 3.
    static let soname = "libcrypto.so.3"

    /// The library, or that it is not there.
    static let shared: Result<OpenSSL, CryptoFault> = Result { () throws(CryptoFault) in try OpenSSL(soname) }

    typealias Handle = OpaquePointer
    typealias Bytes = UnsafePointer<UInt8>

    private let decodeKey:
        @convention(c) @Sendable (UnsafeMutablePointer<Handle?>?, UnsafeMutablePointer<Bytes?>, Int) -> Handle?
    private let freeKey: @convention(c) @Sendable (Handle?) -> Void
    private let newContext: @convention(c) @Sendable () -> Handle?
    private let freeContext: @convention(c) @Sendable (Handle?) -> Void
    private let sha256: @convention(c) @Sendable () -> Handle?
    private let begin:
        @convention(c) @Sendable (Handle, UnsafeMutablePointer<Handle?>?, Handle?, Handle?, Handle) -> Int32
    private let verify: @convention(c) @Sendable (Handle, Bytes?, Int, Bytes?, Int) -> Int32
    private let clearErrors: @convention(c) @Sendable () -> Void

    init(_ path: String) throws(CryptoFault) {
        guard let image = dlopen(path, RTLD_NOW | RTLD_LOCAL) else { throw .noOpenSSL }
        decodeKey = try Self.symbol(image, "d2i_PUBKEY")
        freeKey = try Self.symbol(image, "EVP_PKEY_free")
        newContext = try Self.symbol(image, "EVP_MD_CTX_new")
        freeContext = try Self.symbol(image, "EVP_MD_CTX_free")
        sha256 = try Self.symbol(image, "EVP_sha256")
        begin = try Self.symbol(image, "EVP_DigestVerifyInit")
        verify = try Self.symbol(image, "EVP_DigestVerify")
        clearErrors = try Self.symbol(image, "ERR_clear_error")
    }

    private static func symbol<Function>(
        _ image: UnsafeMutableRawPointer, _ name: String
    ) throws(CryptoFault) -> Function {
        guard let address = dlsym(image, name) else { throw .noOpenSSL }
        return unsafeBitCast(address, to: Function.self)
    }

    /// Checks a signature with a key (SubjectPublicKeyInfo, DER), over the message or over its SHA-256; `nil` when
    /// the key is none, or a point that is not on its curve.
    func verify(_ key: [UInt8], hashed: Bool, signature: [UInt8], message: [UInt8]) -> Bool? {
        defer { clearErrors() }
        let decoded = key.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            return decodeKey(nil, &next, bytes.count)
        }
        guard let decoded, let context = newContext() else { return nil }
        defer {
            freeContext(context)
            freeKey(decoded)
        }
        guard begin(context, nil, hashed ? sha256() : nil, nil, decoded) == 1 else { return nil }
        return signature.withUnsafeBufferPointer { signature in
            message.withUnsafeBufferPointer { message in
                verify(context, signature.baseAddress, signature.count, message.baseAddress, message.count) == 1
            }
        }
    }
}

extension CryptoFault {
    /// OpenSSL 3 is not installed.
    public static let noOpenSSL = CryptoFault("OpenSSL: \(OpenSSL.soname) is not installed")
}
