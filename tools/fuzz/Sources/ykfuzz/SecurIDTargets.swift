// SPDX-License-Identifier: Apache-2.0

import YKCTKIP
import YKCrypto
import YKSecurID
import YKStore

private let keys = SecurIDKeys(
    password: SharedSecret(Secret(utf8: "t0kenpw41")), deviceIDs: ["3eea958d96caa2538ccc8964"])

/// Reads a token in whatever form, and makes a code with it.
private func read(_ bytes: [UInt8]) {
    guard let input = try? SecurIDInput(parsing: bytes) else { return }
    _ = (input.form, input.serials, input.isBound, input.isProtected)
    for keys in [keys, SecurIDKeys()] {
        guard let token = try? input.tokens(keys).first else { continue }
        let code = try? token.tokencode(at: 1_735_689_600, allowsExpired: true)
        require(code?.code.utf8.count == token.digits, "a code of another length")
    }
}

extension FuzzTarget {
    /// SecurID tokens, replies of CT-KIP servers, the store.
    static let securID: [FuzzTarget] = [
        FuzzTarget(name: "securid-ctf") { bytes in
            read(bytes)
            _ = SecurIDLink(String(decoding: bytes, as: UTF8.self))?.scheme
        },
        FuzzTarget(name: "securid-sdtid", run: read),
        FuzzTarget(name: "securid-stokenrc") { bytes in
            read(bytes)
            guard case .stoken(let file)? = try? SecurIDInput(parsing: bytes) else { return }
            _ = try? file.pin(SharedSecret(Secret(utf8: "pw")))
        },
        FuzzTarget(name: "securid-ctkip") { bytes in
            guard let code = try? ActivationCode("123456789012") else { return }
            _ = try? CTKIPClient.message(of: bytes, code)
        },
        FuzzTarget(name: "store") { bytes in
            guard let store = try? SealedStore(parsing: bytes, service: "securid", path: "") else { return }
            let again = try? SealedStore(parsing: Array(store.json.text.utf8), service: "securid", path: "")
            require(again == store, "a store changes when written and read")
        },
    ]
}
