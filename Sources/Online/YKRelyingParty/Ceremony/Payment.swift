// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKWire

/// A payment that the user confirms with a credential (Secure Payment Confirmation): what the browser shows, and what is signed.
public struct Payment: Hashable, Sendable {
    /// The origin of the page in which the user pays, such as a shop. It may ask for the credential although it is another site, if
    /// the credential was made for payments.
    public var topOrigin: String
    /// The name of who is paid; either this or ``payeeOrigin`` is required.
    public var payeeName: String?
    /// The origin of who is paid.
    public var payeeOrigin: String?
    /// The amount, a decimal number such as `25.00`.
    public var amount: String
    /// The currency of the amount, such as `EUR` (ISO 4217).
    public var currency: String
    /// The name of the card or account, as the user knows it.
    public var instrumentName: String
    /// The address of a picture of the card or account.
    public var instrumentIcon: String

    /// Creates a payment.
    public init(
        topOrigin: String, payeeName: String? = nil, payeeOrigin: String? = nil, amount: String, currency: String,
        instrumentName: String, instrumentIcon: String
    ) {
        self.topOrigin = topOrigin
        (self.payeeName, self.payeeOrigin) = (payeeName, payeeOrigin)
        (self.amount, self.currency) = (amount, currency)
        (self.instrumentName, self.instrumentIcon) = (instrumentName, instrumentIcon)
    }

    /// The input of the extension `payment`.
    var json: JSONValue {
        .object(
            JSONValue.Object([
                ("isPayment", true), ("topOrigin", .string(topOrigin)), ("payeeName", payeeName.map(JSONValue.string)),
                ("payeeOrigin", payeeOrigin.map(JSONValue.string)),
                ("total", ["value": .string(amount), "currency": .string(currency)]),
                ("instrument", ["icon": .string(instrumentIcon), "displayName": .string(instrumentName)]),
            ]))
    }
}

extension Ceremony {
    /// The payment that was asked for, as the input of the extension; `nil` if none was.
    var payment: JSONValue? {
        extensions["payment"].flatMap { $0["isPayment"]?.bool == true ? $0 : nil }
    }
}

extension ClientData {
    /// Whether the client data state this payment, of this relying party (Secure Payment Confirmation §4).
    func states(_ payment: JSONValue, rpID: String) -> Bool {
        guard let stated = others["payment"], stated["rpId"]?.string == rpID else { return false }
        let paths = [
            ["topOrigin"], ["payeeName"], ["payeeOrigin"], ["total", "value"], ["total", "currency"],
            ["instrument", "icon"], ["instrument", "displayName"],
        ]
        return paths.allSatisfy { path in
            func value(_ root: JSONValue) -> JSONValue? { path.reduce(root) { found, name in found?[name] } }
            return value(stated) == value(payment)
        }
    }
}
