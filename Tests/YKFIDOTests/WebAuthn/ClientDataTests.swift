// SPDX-License-Identifier: Apache-2.0

import Testing
import YKFIDO
import YKTestSupport
import YKWire

/// Client data byte for byte, and answers of other clients.
struct ClientDataTests {
    @Test func writesCanonicalBytes() throws {
        let plain = ClientData(.get, challenge: [0xFB, 0xFF], origin: "https://example.com")
        #expect(
            String(decoding: plain.bytes, as: UTF8.self)
                == #"{"type":"webauthn.get","challenge":"-_8","origin":"https://example.com","crossOrigin":false}"#)
        let odd = ClientData(
            .create, challenge: [], origin: "a\"b\\c\u{0}\u{1F}\u{7F}ü/\n", crossOrigin: true, topOrigin: "t",
            others: try #require((["x": ["y": 1]] as JSONValue).object))
        #expect(
            String(decoding: odd.bytes, as: UTF8.self)
                == #"{"type":"webauthn.create","challenge":"","origin":"a\"b\\c\u0000\u001f"#
                + "\u{7F}ü/" + #"\u000a","crossOrigin":true,"topOrigin":"t","x":{"y":1}}"#)
        for data in [plain, odd] { try expect(ClientData(parsing: data.bytes), is: data) }
    }

    @Test func readsWhatOthersWrote() throws {
        let text = "{ \"origin\":\"o\", \"new\":[1], \"challenge\":\"AQ==\",\"type\":\"x\", \"tokenBinding\":null}"
        let data = try ClientData(parsing: [0xEF, 0xBB, 0xBF] + text.utf8)
        #expect(data.type.description == "x" && data.challenge == [1] && data.origin == "o")
        #expect(data.crossOrigin == nil && data.topOrigin == nil)
        expect(data.others["new"], is: [1])
        expect(data.bytes.count, is: text.utf8.count + 3)
        for wrong in [#"{"type":1,"challenge":"","origin":""}"#, #"{"type":"x","origin":""}"#] {
            #expect(throws: WebAuthnError.self) { try ClientData(parsing: Array(wrong.utf8)) }
        }
    }

    /// A registration and an assertion of WebAuthn Level 3 §16 (the specification's test vectors).
    struct Vector: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let crossOrigin: Bool
        let topOrigin: String?
        let isExtendedAtCreation: Bool
        let challenges: [String]
        let creationData: String
        let attestationObject: String
        let credential: String
        let authenticatorData: String
        let requestData: String
        let signature: String
    }

    static let vectors = [
        Vector(
            testDescription: "§16.4 crossOrigin", crossOrigin: true, topOrigin: nil, isExtendedAtCreation: true,
            challenges: [
                "3be5aacd03537142472340ab5969f240f1d87716e20b6807ac230655fa4b3b49",
                "876aa517ba83fdee65fcffdbca4c84eeae5d54f8041a1fc85c991e5bbb273137",
            ],
            creationData: """
                7b2274797065223a22776562617574686e2e637265617465222c226368616c6c656e6765223a224f2d57717a514e5463554a48493043\
                7257576e7951504859647862694332674872434d475666704c4f306b222c226f726967696e223a2268747470733a2f2f6578616d706c\
                652e6f7267222c2263726f73734f726967696e223a747275652c22657874726144617461223a22636c69656e74446174614a534f4e20\
                6d617920626520657874656e6465642077697468206164646974696f6e616c206669656c647320696e20746865206675747572652c20\
                7375636820617320746869733a207a5a7175457444523944577170573574425754467567227d
                """,
            attestationObject: """
                a363666d74646e6f6e656761747453746d74a068617574684461746158a4bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592\
                a5e0f01452b2e4b54500000000883f4f6014f19c09d87aa38123be48d000206e1050c0d2ca2f07c755cb2c66a74c64fa43065c18f938\
                354d9915db2bd5ce57a501020326200121582022200a473f90b11078851550d03b4e44a2279f8c4eca27b3153dedfe03e4e97d225820\
                cbd0be95e746ad6f5a8191be11756e4c0420e72f65b466d39bc56b8b123a9c6e
                """,
            credential: "6e1050c0d2ca2f07c755cb2c66a74c64fa43065c18f938354d9915db2bd5ce57",
            authenticatorData: "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b50500000000",
            requestData: """
                7b2274797065223a22776562617574686e2e676574222c226368616c6c656e6765223a226832716c463771445f65356c5f505f62796b\
                7945377135645650674547685f49584a6b655737736e4d5463222c226f726967696e223a2268747470733a2f2f6578616d706c652e6f\
                7267222c2263726f73734f726967696e223a747275652c22657874726144617461223a22636c69656e74446174614a534f4e206d6179\
                20626520657874656e6465642077697468206164646974696f6e616c206669656c647320696e20746865206675747572652c20737563\
                6820617320746869733a2039327063545644304162792d713464746d6a36656667227d
                """,
            signature: """
                3046022100eb12fcf23b12764c0f122e22371fab92e283879fd798f38ee1841c951b6e40e7022100c76237ff9db77b3c56f30837cda6\
                a09acfa2e915544e609c0733b1184036d1cf
                """),
        Vector(
            testDescription: "§16.5 topOrigin", crossOrigin: true, topOrigin: "https://example.com",
            isExtendedAtCreation: false,
            challenges: [
                "4e1f4c6198699e33c14f192153f49d7e0e8e3577d5ac416c5f3adc92a41f27e5",
                "d54a5c8ca4b62a8e3bb321e3b2bc73856f85a10150db2939ac195739eb1ea066",
            ],
            creationData: """
                7b2274797065223a22776562617574686e2e637265617465222c226368616c6c656e6765223a225468394d595a68706e6a504254786b\
                68555f53646667364f4e58665672454673587a72636b7151664a2d55222c226f726967696e223a2268747470733a2f2f6578616d706c\
                652e6f7267222c2263726f73734f726967696e223a747275652c22746f704f726967696e223a2268747470733a2f2f6578616d706c65\
                2e636f6d227d
                """,
            attestationObject: """
                a363666d74646e6f6e656761747453746d74a068617574684461746158a4bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592\
                a5e0f01452b2e4b5410000000097586fd09799a76401c200455099ef2a0020b8ad59b996047ab18e2ceb57206c362da57458793481f4\
                a8ebf101c7ca7cc0f1a5010203262001215820a1c47c1d82da4ebe82cd72207102b380670701993bc35398ae2e5726427fe01d225820\
                86c1080d82987028c7f54ecb1b01185de243b359294a0ed210cd47480f0adc88
                """,
            credential: "b8ad59b996047ab18e2ceb57206c362da57458793481f4a8ebf101c7ca7cc0f1",
            authenticatorData: "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b50500000000",
            requestData: """
                7b2274797065223a22776562617574686e2e676574222c226368616c6c656e6765223a22315570636a4b53324b6f34377379486a7372\
                787a68572d466f51465132796b3572426c584f6573656f4759222c226f726967696e223a2268747470733a2f2f6578616d706c652e6f\
                7267222c2263726f73734f726967696e223a747275652c22746f704f726967696e223a2268747470733a2f2f6578616d706c652e636f\
                6d222c22657874726144617461223a22636c69656e74446174614a534f4e206d617920626520657874656e6465642077697468206164\
                646974696f6e616c206669656c647320696e20746865206675747572652c207375636820617320746869733a205569466f4a4d565251\
                48444146574669347678557051227d
                """,
            signature: """
                3045022100b5a70c81780d5fcc9a4f2ae9caae99058f8accaf58b91fb59329646c28ac6ffc022012e101c165db3c8e9957f0c54dd6ca\
                9b56bc3bd2f280bd2faa6c1d02c6e5c171
                """),
    ]

    @Test(arguments: vectors)
    func agreesWithTheSpecification(_ vector: Vector) throws {
        func text(_ hex: String) throws -> JSONValue { .string(Base64.encodeURL(try Hex.decode(hex))) }
        let made = try RegistrationResponse(json: [
            "id": try text(vector.credential), "rawId": try text(vector.credential), "type": "public-key",
            "response": [
                "clientDataJSON": try text(vector.creationData),
                "attestationObject": try text(vector.attestationObject),
            ], "clientExtensionResults": [:],
        ])
        let creation = try ClientData(parsing: try #require(made.clientDataJSON))
        try check(creation, .create, vector, challenge: vector.challenges[0])
        expect((creation.others["extraData"] != nil), is: vector.isExtendedAtCreation)
        try expect(
            RegistrationResponse(json: made.json).attestationObjectBytes, is: Hex.decode(vector.attestationObject))
        let signed = try AuthenticationResponse(json: [
            "id": try text(vector.credential),
            "response": [
                "clientDataJSON": try text(vector.requestData), "authenticatorData": try text(vector.authenticatorData),
                "signature": try text(vector.signature), "userHandle": nil,
            ],
        ])
        let request = try ClientData(parsing: try #require(signed.clientDataJSON))
        try check(request, .get, vector, challenge: vector.challenges[1])
        try AssertionVerification(rpID: "example.org", publicKey: try #require(made.publicKey)).check(
            signed.authenticatorData, signature: signed.signature, clientDataHash: request.hash)
    }

    /// The bytes come out again when the client data are made of what they say.
    private func check(_ data: ClientData, _ type: ClientData.Kind, _ vector: Vector, challenge: String) throws {
        expect(data.challenge, is: (try Hex.decode(challenge)))
        let again = ClientData(
            type, challenge: data.challenge, origin: "https://example.org", crossOrigin: vector.crossOrigin,
            topOrigin: vector.topOrigin, others: data.others)
        expect(again.bytes, is: data.bytes)
    }

    @Test(
        arguments: [
            (["id": "AQ"], "id: not the identifier in the attestation object"),
            (["rawId": "AQ"], "rawId: not the same as id"),
            (["type": "password"], "type: expected public-key, got a different string"),
            (["response": [:]], "response.attestationObject: expected base64url, got nothing"),
            (
                ["response": ["attestationObject": "AQ"]],
                "response.attestationObject: the attestation object: expected a map"
            ),
            (["response": nil], "response: expected object, got nothing"),
            (["clientExtensionResults": 1], "clientExtensionResults: expected object, got number"),
        ] as [(JSONValue, String)])
    func namesWhatIsWrongInAnAnswer(_ members: JSONValue, _ message: String) throws {
        let vector = Self.vectors[0]
        let id = JSONValue.string(Base64.encodeURL(try Hex.decode(vector.credential)))
        var object = JSONValue.Object()
        object["id"] = id
        object["response"] = [
            "attestationObject": .string(Base64.encodeURL(try Hex.decode(vector.attestationObject)))
        ]
        for member in members.object?.members ?? [] { object[member.key] = member.value }
        let json = JSONValue.object(object)
        #expect {
            _ = try RegistrationResponse(json: json)
        } throws: {
            "\($0)".hasPrefix(message)
        }
        #expect(throws: WebAuthnError.self) { try AuthenticationResponse(json: json) }
    }
}
