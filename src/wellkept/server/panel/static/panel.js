// A live conversation is followed only while its end is in sight, so that nobody is torn from what they read.
let follow = false;
document.addEventListener("htmx:beforeSwap", (event) => {
  follow = event.target.matches(".next") && innerHeight + scrollY > document.body.scrollHeight - 200;
});
document.addEventListener("htmx:afterSettle", () => {
  if (follow) scrollTo({ top: document.body.scrollHeight });
  follow = false;
});
