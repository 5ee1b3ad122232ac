// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKSecurID
public import YKTransport
public import YKWire

/// Why a token could not be fetched from a CT-KIP server. No error contains the activation code.
public enum CTKIPError: Error, Hashable, Sendable {
    /// The request to the server failed.
    case http(HTTPError)
    /// The server answered with an HTTP status other than 200.
    case status(Int)
    /// The server refused the activation code.
    case activationRefused
    /// The server reported a fault, given by its class and message.
    case fault(kind: String, String)
    /// The XML of the server's reply cannot be read.
    case xml(WireError)
    /// The server's reply violates the protocol.
    case reply(String)
    /// The server's message authentication code is wrong: the exchange was modified.
    case mac
    /// The server's token has a value outside its range.
    case token(SecurIDError)
    /// A cryptographic operation failed.
    case crypto(CryptoFault)
    /// The system provided no random bytes.
    case random
}
