// SPDX-License-Identifier: Apache-2.0

// One import for programs that use keys: discovery, and the services of the applications.

@_exported public import YKCapture
@_exported public import YKCrypto
@_exported public import YKFIDO
@_exported public import YKHSMAuth
@_exported public import YKHardware
@_exported public import YKImport
@_exported public import YKKeys
@_exported public import YKManagement
@_exported public import YKNFC
@_exported public import YKOATH
@_exported public import YKOTP
@_exported public import YKOpenPGP
@_exported public import YKPIV
@_exported public import YKProtocols
@_exported public import YKSecrets
@_exported public import YKSecureChannel
@_exported public import YKSecurityDomain
@_exported public import YKStore
@_exported public import YKToken
@_exported public import YKTransport
@_exported public import YKVirtualKey
@_exported public import YKWire
@_exported public import YKX509
