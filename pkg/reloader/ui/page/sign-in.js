// The way into the page for who has a token. The token goes into a header, never into an address.
const form = document.getElementById("form");
const token = document.getElementById("token");
const said = document.getElementById("said");
const send = document.getElementById("send");

const MAX_TOKEN = 12000; // the server takes headers of 16 KiB

function say(text) {
  said.textContent = text;
  token.focus();
}

async function signIn() {
  // Terminals wrap long lines, and what is copied from them has the ends of lines in it.
  const value = token.value.replace(/\s+/g, "");
  if (!/^[\x21-\x7e]+$/.test(value) || value.length > MAX_TOKEN) {
    say("This is no token: it has characters that no token has, or is too long.");
    return;
  }
  send.disabled = true;
  said.textContent = "";
  try {
    const answer = await fetch("/session", { method: "POST", headers: { Authorization: `Bearer ${value}` } });
    if (answer.ok) {
      if (!(await fetch("/session")).ok) {
        say("The token is good, but this browser does not keep the page's cookie: without TLS it does so only for localhost.");
        return;
      }
      token.value = "";
      location.reload();
      return;
    }
    say((await answer.text()).trim() || `The program answers with status ${answer.status}.`);
  } catch {
    say("The program does not answer. Try again.");
  } finally {
    send.disabled = false;
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  signIn();
});

// Who has followed a link from another site is here, though signed in: the browser does not send the cookie then.
fetch("/session").then((answer) => {
  if (answer.ok) location.reload();
  else token.focus();
}).catch(() => say("The program does not answer."));
