const app = document.getElementById("app");
fetch("/assets/apiaries.json").then(r => r.json()).then(list => {
  app.innerHTML = "<h1>Apiary map</h1>" + list.map(a => `<p>${a.name}: ${a.hives} hives</p>`).join("");
});
