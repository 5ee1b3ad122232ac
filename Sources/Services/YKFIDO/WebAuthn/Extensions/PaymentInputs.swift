// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The inputs of the payment extension (Secure Payment Confirmation §5).
struct PaymentInputs {
    let isPayment: Bool
    private let members: JSONMembers

    /// The member `payment`; `nil` if it is absent.
    init?(_ inputs: JSONMembers) throws(WebAuthnError) {
        guard let members = try inputs.members("payment") else { return nil }
        isPayment = try members.optional("isPayment", .bool) ?? false
        self.members = members
    }

    /// The payment's details for the client data.
    func clientData(rpID: String) throws(WebAuthnError) -> JSONValue {
        let total = try members.requiredMembers("total")
        let instrument = try members.requiredMembers("instrument")
        let payee = try members.optional("payeeName", .string)
        let payeeOrigin = try members.optional("payeeOrigin", .string)
        guard payee != nil || payeeOrigin != nil else {
            throw .member(members.path(of: "payeeName"), problem: "expected string, got nothing")
        }
        return .object(
            JSONValue.Object([
                ("rpId", .string(rpID)), ("topOrigin", .string(try members.required("topOrigin", .string))),
                ("payeeName", payee.map(JSONValue.string)), ("payeeOrigin", payeeOrigin.map(JSONValue.string)),
                (
                    "total",
                    [
                        "value": .string(try total.required("value", .string)),
                        "currency": .string(try total.required("currency", .string)),
                    ]
                ),
                (
                    "instrument",
                    [
                        "icon": .string(try instrument.required("icon", .string)),
                        "displayName": .string(try instrument.required("displayName", .string)),
                    ]
                ),
            ]))
    }
}

extension PublicKeyCredentialRequestOptions {
    /// Whether a payment is requested.
    var isPayment: Bool { extensions["payment"]?["isPayment"]?.bool == true }
}
