// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKHTTP
import YKKeys
import YKTransport

extension World {
    /// What asks servers: over the network, recorded where a recording is made, or from the recording that is played.
    func http() throws(HTTPError) -> any HTTPClient {
        if let replay { return replay.httpClient() }
        let client = try CurlClient(cancellation: environment.cancellation)
        return recorder?.recording(client) ?? client
    }
}
