// SPDX-License-Identifier: Apache-2.0

import YKApproval
import YKHTTP
import YKit

/// Enrols a push account with a new key in a PIV slot, then asks whether to approve its first request.
///
/// The first line on standard input is the link that privacyIDEA shows as a QR code. With `--virtual`, the key is one in
/// software and the server is in this program.
@main
struct Approve {
    static func main() async throws {
        let isVirtual = CommandLine.arguments.contains("--virtual")
        let key = try await (isVirtual ? KeyRing(source: .virtual(.demonstration())) : KeyRing()).only()
        let server = isVirtual ? try FakeServer() : nil
        let link = try PushLink(server == nil ? readLine() ?? "" : FakeServer.link)
        let piv = try await key.open(PIVService.self)
        try await answer(link, piv, approver(server), isVirtual)
        await piv.close()
    }

    private static func approver(_ server: FakeServer?) throws -> Approver {
        guard let server else { return Approver(try CurlClient(), ServiceEnvironment()) }
        return Approver(ServiceEnvironment()) { _, _, _ in server }
    }

    private static func answer(
        _ link: PushLink, _ piv: PIVService, _ approver: Approver, _ isVirtual: Bool
    ) async throws {
        try await piv.authenticate(with: .defaultKey())
        let slot = try await PIVApprovalKey.freeSlot(piv)
        let (place, publicKey) = try await PIVApprovalKey.make(
            piv, slot, .rsa2048, KeyPolicies(pin: .once, touch: .never))
        let key = try await PIVApprovalKey(piv, slot, publicKey) { try await $0.verify(pin(isVirtual)) }
        // A program stores the account: `account.stored`.
        let account = try await approver.enroll(link, name: "work", key, .piv(place)).account
        print("enrolled \(link.serial) at \(link.issuer), with a key in slot \(slot)")

        for try await request in approver.requests(of: account, key, every: .seconds(2)) {
            print("\(PushRequest.shown(request.question, limit: 80)) Approve? [y/N]")
            let isApproved = readLine() == "y"
            let receipt = try await isApproved ? approver.approve(request, account, key)
                : approver.decline(request, nil, account, key)
            print(receipt.isAccepted ? isApproved ? "approved" : "declined" : "the server refused the answer")
            break
        }
    }

    @Sendable private static func pin(_ isVirtual: Bool) throws -> PIVPIN {
        if isVirtual { return .defaultPIN() }
        print("PIN:")
        return try PIVPIN(Secret(utf8: readLine() ?? ""))
    }
}
