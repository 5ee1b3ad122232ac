// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKWire

/// The page of a trial: a single document without external resources.
struct TrialPage {
    /// The nonce of the page's style and script.
    let nonce: String
    let steps: [TrialStep]
    /// The results so far, for a page that is reloaded.
    let results: [TrialStep: TrialResult]

    /// The value of Content-Security-Policy.
    var contentPolicy: String {
        "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; connect-src 'self'; "
            + "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    }

    /// The value of Permissions-Policy.
    static let permissions = "publickey-credentials-create=(self), publickey-credentials-get=(self)"

    /// The document. It contains no foreign text: the script inserts results as text.
    var text: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Try your security key – ykit</title>
        <style nonce="\(nonce)">\(Self.style)</style>
        </head>
        <body>
        <main>
        <h1>Try your security key</h1>
        <p>This page acts as a web site that you sign up with. It comes from ykit on this computer and
        sends nothing to any other. Plug in your key and take the steps in order.</p>
        <noscript><p class="warning">This page needs JavaScript.</p></noscript>
        <ol>
        \(steps.map(section).joined(separator: "\n"))
        </ol>
        <p id="over" role="status"></p>
        <p><button type="button" id="end" class="quiet">End here</button></p>
        </main>
        <script nonce="\(nonce)">
        const known = \(state);
        \(Self.script)
        </script>
        </body>
        </html>

        """
    }

    private func section(_ step: TrialStep) -> String {
        """
        <li id="\(step.rawValue)">
        <h2>\(step.title)</h2>
        <p>\(step.purpose)</p>
        <button type="button" data-step="\(step.rawValue)" data-needs="\(step.prerequisite?.rawValue ?? "")">\(step.title)</button>
        <div class="verdict" role="status"></div>
        </li>
        """
    }

    /// The results as JSON for the script, without any `<`, which could close the element.
    private var state: String {
        JSONValue.array(steps.compactMap { results[$0].map(Self.json) }).text.split(
            separator: "<", omittingEmptySubsequences: false
        ).joined(separator: "\\u003c")
    }

    private static let style = """
        :root { color-scheme: light dark; }
        body { font: 1.05rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 42rem; padding: 1rem; }
        h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin: 0; }
        li { margin: 0 0 1.2rem; } li p { margin: .2rem 0 .5rem; }
        button { font: inherit; padding: .35rem 1rem; border-radius: .4rem; border: 1px solid #0b57d0;
          background: #0b57d0; color: #fff; cursor: pointer; }
        button:disabled { background: transparent; border-color: GrayText; color: GrayText; cursor: default; }
        button.quiet { background: transparent; color: inherit; border-color: GrayText; }
        button:focus-visible { outline: 3px solid #f5a623; outline-offset: 2px; }
        .verdict p { margin: .4rem 0 0; } .verdict dl { display: grid; grid-template-columns: max-content 1fr;
          gap: 0 1rem; margin: .3rem 0 0; font-size: .92rem; }
        .verdict dd { margin: 0; overflow-wrap: anywhere; } .word { font-weight: 600; } .warning { font-weight: 600; }
        .passed .word { color: light-dark(#136c2e, #6fdd8b); } .failed .word { color: light-dark(#b3261e, #ff8a80); }
        .unanswered .word, .unsupported .word { color: light-dark(#7a5200, #ffca63); }
        """

    /// The script measures the secrets of prf and removes them from what it sends.
    private static let script = """
        const words = { passed: 'Passed.', failed: 'Failed.', unanswered: 'No answer.', unsupported: 'Not supported.' };
        const buttons = [...document.querySelectorAll('button[data-step]')];
        const outcomes = {};
        let busy = false, over = false;
        function element(name, text, kind) {
          const made = document.createElement(name);
          made.textContent = text;
          if (kind) made.className = kind;
          return made;
        }
        function update() {
          for (const button of buttons) {
            const { step, needs } = button.dataset, done = ['passed', 'unsupported'].includes(outcomes[step]);
            const ready = !needs || ['passed', 'unsupported'].includes(outcomes[needs]);
            button.disabled = busy || over || done || !ready;
          }
          document.getElementById('end').hidden = over;
        }
        function show(verdict) {
          outcomes[verdict.step] = verdict.outcome;
          const place = document.querySelector(`#${verdict.step} .verdict`);
          place.className = 'verdict ' + verdict.outcome;
          const line = element('p', '');
          line.append(element('span', words[verdict.outcome], 'word'), verdict.reason ? ' ' + verdict.reason : '');
          place.replaceChildren(line);
          if (verdict.hint) place.append(element('p', verdict.hint));
          const list = document.createElement('dl');
          for (const [name, text] of verdict.details) list.append(element('dt', name), element('dd', text));
          if (verdict.details.length) place.append(list);
        }
        function finished(text) {
          over = true;
          const passed = Object.values(outcomes).filter(outcome => outcome === 'passed').length;
          document.getElementById('over').textContent =
            `${text} ${passed} of ${buttons.length} steps passed. The results are in the terminal; you can close this page.`;
        }
        async function post(path, value) {
          const answer = await fetch(path, {
            method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(value) });
          if (!answer.ok) throw new Error('status ' + answer.status);
          return answer.json();
        }
        async function secrets(results) {
          const made = [results?.first, results?.second].filter(Boolean).map(value => new Uint8Array(value));
          return { lengths: made.map(value => value.length), different: String(made[0]) !== String(made[1]) };
        }
        async function ceremony(options, creates) {
          if (!window.PublicKeyCredential || !PublicKeyCredential.parseCreationOptionsFromJSON) throw { name: 'no-webauthn' };
          const publicKey = creates ? PublicKeyCredential.parseCreationOptionsFromJSON(options)
            : PublicKeyCredential.parseRequestOptionsFromJSON(options);
          const made = creates ? await navigator.credentials.create({ publicKey })
            : await navigator.credentials.get({ publicKey });
          const json = made.toJSON();
          const results = made.getClientExtensionResults().prf?.results;
          if (json.clientExtensionResults?.prf?.results) {
            delete json.clientExtensionResults.prf.results;
            Object.assign(json.clientExtensionResults.prf, await secrets(results));
          }
          return json;
        }
        async function run(step) {
          busy = true;
          update();
          const place = document.querySelector(`#${step} .verdict`);
          place.className = 'verdict';
          place.replaceChildren(element('p', 'Follow your browser, and touch the key when it asks for it.'));
          try {
            let reply = await post('/begin', { step });
            if (reply.publicKey) {
              let answer;
              try {
                answer = { step, credential: await ceremony(reply.publicKey, 'rp' in reply.publicKey) };
              } catch (error) {
                answer = { step, error: error.name || 'Error' };
              }
              reply = await post('/finish', answer);
            }
            show(reply.verdict);
            if (reply.over) finished('Done.');
          } catch (error) {
            place.replaceChildren(element('p', `ykit no longer responds (${error.message}). Start it again.`));
          }
          busy = false;
          update();
          if (!over) buttons.find(button => !button.disabled)?.focus();
        }
        for (const button of buttons) button.addEventListener('click', () => run(button.dataset.step));
        document.getElementById('end').addEventListener('click', async () => {
          try { await post('/end', {}); } catch {}
          finished('Ended.');
          update();
        });
        known.forEach(show);
        update();
        """

    /// A result as the script reads it.
    static func json(_ result: TrialResult) -> JSONValue {
        [
            "step": .string(result.step.rawValue), "outcome": .string(result.outcome.rawValue),
            "reason": result.reason.map { .string($0.description) } ?? .null,
            "hint": result.hint.map(JSONValue.string) ?? .null,
            "details": .array(details(of: result).map { .array([.string($0), .string($1)]) }),
        ]
    }

    /// What the page lists below a step that passed, in the order of display.
    static func details(of result: TrialResult) -> [(name: String, words: String)] {
        guard result.outcome == .passed else { return [] }
        guard let response = result.response else {
            return [("browser", "the key is already registered (InvalidStateError)")]
        }
        var details = [(name: "user", words: response.flags.userState)]
        if let credential = response.credential {
            let transports = credential.transports.map(\.rawValue)
            details += [
                ("algorithm", credential.algorithm?.description ?? "unknown"),
                ("model", credential.isAnonymous ? "not disclosed" : "AAGUID \(Hex.uuid(credential.aaguid))"),
                ("attestation", words(for: credential)),
                ("transports", transports.isEmpty ? "not reported" : transports.listed()),
            ]
        } else {
            details.append(("signatures so far", String(response.counter)))
        }
        details += response.extensions.members.compactMap { row(of: $0.key, $0.value) }
        switch result.step {
        case .prf: details.append(("secrets", "two, of 32 bytes each"))
        case .largeBlobRead: details.append(("data", "\(TrialVerifier.blobLength) bytes, the same as were stored"))
        default: break
        }
        return details
    }

    private static func words(for credential: TrialResponse.Credential) -> String {
        guard credential.trust != .none else { return "none" }
        return "\(credential.format.rawValue), signed by \(credential.trust.description(isAnchored: false))"
    }

    /// The result of a client extension; `nil` if a row of the step says more.
    private static func row(of name: String, _ value: JSONValue) -> (name: String, words: String)? {
        switch name {
        case "credProps":
            guard let isDiscoverable = value["rk"]?.bool else { return nil }
            return ("stored on the key", isDiscoverable ? "yes" : "no")
        case "prf":
            guard let isEnabled = value["enabled"]?.bool else { return nil }
            return ("secrets (prf)", isEnabled ? "supported" : "not supported")
        case "largeBlob":
            if let isSupported = value["supported"]?.bool {
                return ("data (largeBlob)", isSupported ? "supported" : "not supported")
            }
            return value["written"]?.bool.map { ("data", $0 ? "stored" : "not stored") }
        default: return (name, value.text)
        }
    }
}
