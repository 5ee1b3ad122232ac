// SPDX-License-Identifier: Apache-2.0

import YKArculus
import YKHTTP
import YKPrivacyIDEA
import YKTransport
import YKWire

extension FuzzTarget {
    /// What servers and backends answer.
    static let servers: [FuzzTarget] = [
        FuzzTarget(name: "http-header") { bytes in
            let response = HTTPResponse(status: 302, fields: [HTTPField](parsing: bytes))
            _ = (response.redirect, response.type)
            guard let url = try? HTTPURL(String(decoding: bytes, as: UTF8.self)) else { return }
            require((try? HTTPURL(url.description)) == url, "an address changes when written and read")
        },
        FuzzTarget(name: "incoming-request") { bytes in
            var whole = IncomingRequestReader()
            var bytewise = IncomingRequestReader()
            let step = whole.take(bytes)
            var last = IncomingRequestReader.Step.more
            for byte in bytes where last == .more { last = bytewise.take([byte]) }
            require(step == last, "a request depends on how it is cut")
            guard case .complete(let request) = step else { return }
            _ = (request.value(of: "Host"), request.cookie("session"))
            require(request.target.hasPrefix("/"), "a target that is no path")
            require(request.body.count <= IncomingRequestReader.bodyLimit, "a body that is too long")
        },
        FuzzTarget(name: "server-reply") { bytes in
            do throws(ArculusError) { _ = try ArculusOptions.creation(fromBackend: bytes) } catch {
                _ = (error.code, error.result.json.text)
            }
            do throws(ArculusError) { _ = try ArculusOptions.request(fromBackend: bytes) } catch {
                _ = (error.code, error.result.json.text)
            }
        },
        FuzzTarget(name: "server-description") { bytes in
            guard let server = try? ArculusServer(parsing: bytes) else { return }
            let all = [server.endpoints.registrationBegin, server.endpoints.authenticationComplete]
            require(Set(all.map(\.origin)).count == 1, "endpoints of several origins")
        },
        FuzzTarget(name: "privacyidea") { bytes in
            let type = HTTPField("Content-Type", "application/json")
            let response = HTTPResponse(status: 200, fields: [type, HTTPField("Date", text(bytes))], body: bytes)
            _ = ServerSession.expiry(text(bytes))
            guard let answer = try? PrivacyIDEAAnswer(response) else { return }
            _ = (answer.challenges, answer.deviceCookie, answer.message, answer.serial, answer.date)
            require(
                (try? JSONValue(parsing: answer.envelope.text)) == answer.envelope, "an envelope changes when written")
        },
    ]
}

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes.prefix(200), as: UTF8.self) }
