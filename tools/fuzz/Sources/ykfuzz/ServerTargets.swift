// SPDX-License-Identifier: Apache-2.0

import YKArculus
import YKHTTP

extension FuzzTarget {
    /// What servers and backends answer.
    static let servers: [FuzzTarget] = [
        FuzzTarget(name: "http-header") { bytes in
            let response = HTTPResponse(status: 302, fields: [HTTPField](parsing: bytes))
            _ = (response.redirect, response.type)
            guard let url = try? HTTPURL("https://a.example/fidoapi/begin") else { return }
            var cookies = HTTPCookies()
            cookies.take(response, from: url)
            cookies.take(response, from: url)
            let text = cookies.field(for: url)?.value.utf8 ?? "".utf8
            require(text.allSatisfy { $0 != 0x0A && $0 != 0x0D }, "a cookie ends the line of its header")
            guard let other = try? HTTPURL("https://b.example/fidoapi/begin") else { return }
            require(cookies.field(for: other) == nil, "a cookie goes to another host")
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
    ]
}
